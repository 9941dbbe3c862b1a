"""The InfoNCE bound on held-out data against grounding, as training goes on (002, Fig. 4)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polymodal.studies.figures.pixel_sheet import (
    ACCENT,
    HEAD,
    INK,
    MARGIN,
    RULE,
    SECOND,
    SMALL,
    SOFT,
    WIDTH,
    Sheet,
    points,
)
from polymodal.studies.result_files import Metrics, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT, GAP, LEFT, FOOT = 560, 60, 80, 80
"""Pixels of a panel, between panels, and for the numbers and names of its axes."""

COLOURS = (ACCENT, SECOND, INK)
"""Of the rows, in their order."""

NAMES = ("steps", "bound, nats", "pointing, %")
"""What is drawn of each validation."""

POINT = re.compile(r"curve_(\d+)_bound")

FEW = 3
"""Validations up to the peak that a correlation needs at least."""


def curve_metrics(curves: Sequence[Metrics]) -> dict[str, float]:
    """The bound and pointing accuracy of each validation; where pointing is best and what came after;
    and r of the two up to there."""
    seen = [point for point in curves if {"bound", "pointing"} <= point.keys()]
    told: dict[str, float] = {}
    for point in seen:
        told[f"curve_{point['step']:.0f}_bound"] = point["bound"]
        told[f"curve_{point['step']:.0f}_pointing"] = point["pointing"]
    peak = max(range(len(seen)), key=lambda place: seen[place]["pointing"])
    rising = seen[: peak + 1]
    told |= {
        "peak_step": seen[peak]["step"],
        "peak_pointing": seen[peak]["pointing"],
        "last_pointing": seen[-1]["pointing"],
        "bound_at_peak": seen[peak]["bound"],
        "last_bound": seen[-1]["bound"],
    }
    if len(rising) >= FEW:
        bound, pointing = ([point[name] for point in rising] for name in ("bound", "pointing"))
        told["r_to_peak"] = float(np.corrcoef(bound, pointing)[0, 1])
    return told


def bound_curves(rows: Sequence[Row], out: Path) -> dict[str, Metrics]:
    """Draw the curves beside the result file, a line of panels a dataset; give, for each row, how far the
    bound rises and grounding falls from the peak of grounding to the end."""
    by_data: dict[str, list[Row]] = {}
    for row in rows:
        by_data.setdefault(row.data, []).append(row)
    high = HEAD + HEIGHT + FOOT
    sheet = Sheet(len(by_data) * high + MARGIN)
    found: dict[str, Metrics] = {}
    for line, (data, own) in enumerate(by_data.items()):
        draw(sheet, MARGIN / 2 + line * high, data, own)
        for name in dict.fromkeys(row.name for row in own):
            found[f"{name}, {data}"] = after_peak([row for row in own if row.name == name])
    sheet.save(out.with_suffix(".png"))
    return found


def draw(sheet: Sheet, top: float, data: str, rows: Sequence[Row]) -> None:
    """Both measures by step, and one against the other: a colour a row, a line a seed."""
    names = list(dict.fromkeys(row.name for row in rows))
    wide = (WIDTH - 2 * MARGIN - 2 * GAP) / 3
    axes = ("steps", "bound, nats"), ("steps", "pointing, %"), ("bound, nats", "pointing, %")
    titles = "Bound on held-out data", "Grounding", "Grounding by the bound"
    for place, ((x, y), title) in enumerate(zip(axes, titles, strict=True)):
        left = MARGIN + place * (wide + GAP)
        note = "" if place else re.split("[,:]", data)[0]
        sheet.head(title, top, note, left=left, right=left + wide)
        panel = sheet.axes(left + LEFT, top + HEAD, wide - LEFT, HEIGHT)
        for number, name in enumerate(names):
            for seed, row in enumerate(row for row in rows if row.name == name):
                values = dict(zip(NAMES, curve_of(row), strict=True))
                colour = COLOURS[number % len(COLOURS)]
                label = None if seed else name
                panel.plot(values[x], values[y], ".-", color=colour, linewidth=1, label=label)
        dress(panel, x, y)


def curve_of(row: Row) -> tuple[list[float], list[float], list[float]]:
    """Steps, bounds and pointing accuracies of a row."""
    steps = sorted(int(m[1]) for name in row.metrics if (m := POINT.fullmatch(name)))
    bound, pointing = (
        [row.metrics[f"curve_{step}_{what}"] for step in steps] for what in ("bound", "pointing")
    )
    return [float(step) for step in steps], bound, pointing


def after_peak(rows: Sequence[Row]) -> Metrics:
    """Means over seeds: what happens from the peak of grounding to the end, and r of the two before."""

    def mean(after: str, before: str) -> float:
        return float(np.mean([row.metrics[after] - row.metrics[before] for row in rows]))

    r = [row.metrics["r_to_peak"] for row in rows if "r_to_peak" in row.metrics]
    return {
        **({"r_to_peak": float(np.mean(r))} if r else {}),
        "bound_rises": mean("last_bound", "bound_at_peak"),
        "pointing_falls": -mean("last_pointing", "peak_pointing"),
    }


def dress(axes: "Axes", x: str, y: str) -> None:
    """Names of the axes, and a key."""
    axes.set_xlabel(x, size=points(SMALL), color=SOFT)
    axes.set_ylabel(y, size=points(SMALL), color=SOFT)
    axes.tick_params(labelsize=points(SMALL), colors=SOFT)
    axes.grid(color=RULE)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=points(SMALL))
