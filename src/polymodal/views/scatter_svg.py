"""Scatter plots as SVG: a dot a model, with its name, in the colours of the page."""

import math
from collections.abc import Mapping, Sequence

from polymodal.views.line_plot import HEIGHT, WIDTH, Axes, Point, frame, ticks
from polymodal.views.markup import escape

LEAST = 4
"""How many whole numbers the x axis spans at least, so that it has some to show."""


def scatter(title: str, points: Mapping[str, Point], x_label: str) -> str:
    """A figure of named points, or nothing if there are none that can be drawn."""
    drawn = {name: at for name, at in points.items() if all(map(math.isfinite, at))}
    if not drawn:
        return ""
    axes = around(list(drawn.values()))
    dots = "".join(dot(name, axes.place(*at)) for name, at in drawn.items())
    label = "; ".join(f"{name} at {x:.4g}, {y:.4g}" for name, (x, y) in drawn.items())
    return (
        f'<figure class="plot"><figcaption><strong>{escape(title)}</strong></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}: {label}")}">'
        f"{frame(axes, x_label)}{dots}</svg></figure>"
    )


def around(points: Sequence[Point]) -> Axes:
    """Axes with some room about all points; x runs between whole numbers.

    >>> around([(20.2, 0.5), (30.0, 0.7)])
    Axes(x=(19, 31), y=(0.45, 0.75))
    """
    (left, right), (low, high) = ((min(some), max(some)) for some in zip(*points, strict=True))
    room = max(1.0, (right - left) / 20)
    first, last = math.floor(left - room), math.ceil(right + room)
    last = max(last, first + LEAST)
    gap = (high - low) / 4 or abs(high) / 10 or 1.0
    step = ticks(low, high + gap)[1] - ticks(low, high + gap)[0]
    bottom, top = (round(value, 6) for value in (low - step / 2, high + step / 2))
    return Axes((first, last), (bottom, top))


def dot(name: str, at: Point) -> str:
    """A dot, and its name on the side where there is more room."""
    x, y = at
    side, shift = ("end", -8) if x > WIDTH / 2 else ("start", 8)
    return (
        f'<circle class="dot l0" cx="{x}" cy="{y}" r="4"/>'
        f'<text class="{side}" x="{x + shift}" y="{y + 4}">{escape(name)}</text>'
    )
