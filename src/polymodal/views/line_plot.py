"""Line plots as SVG of our own: crisp at any size, in the colours and letters of the page, light or dark.

matplotlib's SVG fixes both, repeats its ids from plot to plot, and refers to addresses, which a page of
ours never does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from polymodal.views.markup import escape

WIDTH, HEIGHT = 460, 270
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 24, 42
MOST = 400
"""Points a line is drawn with at most."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A named line through points; a y that is no number leaves a gap."""

    name: str
    points: tuple[Point, ...]

    @property
    def finite(self) -> list[Point]:
        """The points that can be drawn."""
        return [(x, y) for x, y in self.points if math.isfinite(y)]


@dataclass(frozen=True)
class Axes:
    """Where a value lies in the drawing."""

    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> Point:
        """A point in the drawing's own units."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            round(LEFT + across * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1),
        )


def plot(
    title: str,
    lines: Sequence[Line],
    *,
    mark: float | None = None,
    zero: bool = False,
    x_label: str = "step",
) -> str:
    """A figure of some lines, or nothing if they have no points.

    `mark` is an x that is singled out; `zero` keeps 0 on the axis however little the values differ.
    """
    lines = [line for line in lines if line.finite]
    if not lines:
        return ""
    axes = fit([point for line in lines for point in line.finite], zero)
    drawn = [trace(line, axes, place, mark) for place, line in enumerate(lines)]
    label = "; ".join(
        f"{line.name} from {line.finite[0][1]:.4g} to {line.finite[-1][1]:.4g}" for line in lines
    )
    keys = [
        f'<span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line l{place}" '
        f'd="M1 4H23"/></svg>{escape(line.name)}</span>'
        for place, line in enumerate(lines)
    ]
    legend = f'<span class="legend">{"".join(keys)}</span>' if len(lines) > 1 else ""
    return (
        f'<figure class="plot"><figcaption><strong>{escape(title)}</strong>{legend}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}: {label}")}">'
        f"{frame(axes, x_label)}{flag(axes, mark)}{''.join(drawn)}</svg></figure>"
    )


def fit(points: Sequence[Point], zero: bool = False) -> Axes:
    """Axes that hold all points: from zero up, unless the values differ by a fifth or less."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = min(ys), max(ys)
    size = max(abs(low), abs(high)) or 1.0
    if (zero and (low or high)) or high - low > size / 5:
        low, high = min(low, 0.0), max(high, 0.0)
    else:
        low, high = low - size / 10, high + size / 10
    steps = ticks(low, high)
    gap = steps[1] - steps[0]
    left, right = min(xs), max(xs)
    if right > 0 and (left == right or 0 < left < right / 4):
        left = 0.0
    if left == right:
        right = left + 1
    return Axes((left, right), (min(low, steps[0]), high if high <= steps[-1] else steps[-1] + gap))


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers between two values, at least two.

    >>> ticks(0, 600), ticks(0.36, 0.44)
    ([0.0, 200.0, 400.0, 600.0], [0.36, 0.38, 0.4, 0.42, 0.44])
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [float(f"{k * step:.10g}") for k in range(first, max(last, first + 1) + 1)]


def frame(axes: Axes, x_label: str) -> str:
    """Grid, ticks and their numbers, and the name of the x axis."""
    parts = []
    for y in ticks(*axes.y):
        (left, at), (right, _) = axes.place(axes.x[0], y), axes.place(axes.x[1], y)
        if at >= TOP - 1:
            parts.append(f'<path class="grid" d="M{left} {at}H{right}"/>')
            parts.append(f'<text class="end" x="{LEFT - 8}" y="{at + 4}">{_tick(y)}</text>')
    for x in ticks(*axes.x):
        at, floor = axes.place(x, axes.y[0])
        if x == round(x) and axes.x[0] <= x <= axes.x[1]:
            parts.append(f'<path class="tick" d="M{at} {floor}v5"/>')
            parts.append(f'<text class="mid" x="{at}" y="{floor + 18}">{_tick(x)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<path class="axis" d="M{LEFT} {HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    parts.append(f'<text class="mid" x="{middle}" y="{HEIGHT - 6}">{escape(x_label)}</text>')
    return "".join(parts)


def _tick(value: float) -> str:
    return f"{value:,.10g}".replace("-", "−")


def flag(axes: Axes, mark: float | None) -> str:
    """A dashed line at the x that is singled out, and its value."""
    if mark is None or not axes.x[0] <= mark <= axes.x[1]:
        return ""
    at, floor = axes.place(mark, axes.y[0])
    right = at > WIDTH / 2
    return (
        f'<path class="flag" d="M{at} {TOP - 8}V{floor}"/>'
        f'<text class="{"end" if right else "start"}" x="{at - 6 if right else at + 6}" y="{TOP - 10}">'
        f"selected: {_tick(mark)}</text>"
    )


def trace(line: Line, axes: Axes, place: int, mark: float | None) -> str:
    """One line, broken where a value is missing; with dots where there are few points."""
    every = math.ceil(len(line.points) / MOST)
    kept = [*line.points[:-1:every], line.points[-1]]
    path, pen = [], "M"
    for x, y in kept:
        if not math.isfinite(y):
            pen = "M"
            continue
        across, up = axes.place(x, y)
        path.append(f"{pen}{across} {up}" + ("h0" if pen == "M" else ""))  # alone, it is a dot
        pen = "L"
    dots = line.finite if len(line.finite) <= 12 else [p for p in line.finite if p[0] == mark]
    shown = "".join(
        f'<circle class="dot l{place}{" chosen" if x == mark else ""}" cx="{cx}" cy="{cy}" r="3.5"/>'
        for x, (cx, cy) in ((x, axes.place(x, y)) for x, y in dots)
    )
    return f'<path class="line l{place}" d="{"".join(path)}"/>{shown}'
