"""Learning curves: the loss, the score that selects, and whatever else was scored on the way."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polymodal.views.line_plot import Line, plot
from polymodal.views.page import Section

Curves = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Panel:
    """A plot of some metrics: their names in the curves, and in the legend."""

    title: str
    metrics: Mapping[str, str]
    zero: bool = False
    """Keep 0 on the axis however little the values differ."""


RECALLS = tuple(
    Panel(title, {f"{way}_r{k}": f"R@{k}" for k in (1, 5, 10)}, zero=True)
    for way, title in (("t2i", "Text → image, %"), ("i2t", "Image → text, %"))
)


def curves_section(
    curves: Curves,
    monitor: str,
    *,
    panels: Sequence[Panel] = RECALLS,
    heading: str = "Learning curves",
    note: str = "",
) -> Section:
    """The loss and `monitor` over steps, then the panels; the selected step is marked in each."""
    best = best_step(curves, monitor)
    chosen = (
        Panel("Training loss", {"loss": "loss"}),
        Panel(f"Validation {monitor}", {monitor: monitor}),
        *panels,
    )
    drawn = "".join(
        plot(
            panel.title,
            [line(curves, key, name) for key, name in panel.metrics.items()],
            mark=best,
            zero=panel.zero,
        )
        for panel in chosen
    )
    if not drawn:
        return Section(heading, '<p class="empty">No point of a curve was noted.</p>', note)
    return Section(heading, f'<div class="plots">{drawn}</div>', note)


def line(curves: Curves, key: str, name: str) -> Line:
    """One metric over steps; rows that say nothing of it are passed over."""
    points = [(float(row["step"]), float(row[key])) for row in curves if key in row]
    return Line(name, tuple(points))


def best_step(curves: Curves, monitor: str) -> float | None:
    """The first step at which `monitor` was highest: the one whose weights are kept.

    >>> best_step([{"step": 1, "rsum": 5.0}, {"step": 2, "rsum": 9.0}, {"step": 3}], "rsum")
    2.0
    """
    scored = [point for point in line(curves, monitor, monitor).points if not math.isnan(point[1])]
    return max(scored, key=lambda point: point[1])[0] if scored else None
