"""Scatter plots: a dot a row of a table (003, Figs 4.2 and 4.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT, GAP, LEFT, FOOT = 640, 60, 70, 80
"""Pixels of a panel, between panels, and for the numbers and names of its axes."""

NEAR = 0.08, 0.025
"""What share of a panel's width and height two names need."""

LOOKS = ((INK, "o"), (ACCENT, "s"), (SECOND, "^"))
"""Colours and marks of kinds of dots, in the order in which they come."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A row: where it lies, its name, and its kind, which has a colour."""

    name: str
    kind: str
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """The dots of a panel under its heading."""

    title: str
    note: str
    dots: Sequence[Dot]


def scatter(clouds: Sequence[Cloud], *, x: str, y: str, out: Path) -> None:
    """Draw panels side by side, each dot with its name, and write them as PNG."""
    sheet = Sheet(HEAD + HEIGHT + FOOT + MARGIN)
    kinds = list(dict.fromkeys(dot.kind for cloud in clouds for dot in cloud.dots))
    wide = (WIDTH - 2 * MARGIN - GAP * (len(clouds) - 1)) / len(clouds)
    for place, cloud in enumerate(clouds):
        left = MARGIN + place * (wide + GAP)
        sheet.head(cloud.title, MARGIN / 2, cloud.note, left=left, right=left + wide)
        axes = sheet.axes(left + LEFT, MARGIN / 2 + HEAD, wide - LEFT, HEIGHT)
        panel(axes, cloud, kinds)
        axes.set_xlabel(x, size=points(SMALL), color=SOFT)
        axes.set_ylabel(y, size=points(SMALL), color=SOFT)
    sheet.save(out)


def panel(axes: "Axes", cloud: Cloud, kinds: Sequence[str]) -> None:
    """The dots of one panel; kinds beyond the third look as the first again."""
    for number, kind in enumerate(kinds):
        colour, mark = LOOKS[number % len(LOOKS)]
        dots = [dot for dot in cloud.dots if dot.kind == kind]
        axes.scatter([d.x for d in dots], [d.y for d in dots], c=colour, marker=mark, label=kind)
    shared = common_part([dot.name for dot in cloud.dots])
    for dot in cloud.dots:
        axes.annotate(
            dot.name.removeprefix(shared),
            (dot.x, dot.y),
            xytext=(5, -9 if crowded(dot, cloud.dots) else 3),
            textcoords="offset points",
            size=points(SMALL - 4),
            color=SOFT,
        )
    axes.margins(x=0.15)  # for the names at the right
    axes.tick_params(labelsize=points(SMALL), colors=SOFT)
    axes.grid(color=RULE)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=points(SMALL))


def common_part(names: Sequence[str]) -> str:
    """What stands before the first stroke of every name, with the stroke; nothing where they differ.

    >>> common_part(["basic/FC", "basic/PN"]), common_part(["basic/FC", "alex/FC"])
    ('basic/', '')
    """
    heads = {"".join(name.partition("/")[:2]) for name in names if "/" in name}
    return heads.pop() if len(heads) == 1 and all("/" in name for name in names) else ""


def crowded(dot: Dot, dots: Sequence[Dot]) -> bool:
    """Whether the name of a dot a little above would be written over this one's."""
    wide, high = (
        max(values) - min(values) for values in ([d.x for d in dots], [d.y for d in dots])
    )
    return any(
        0 <= other.y - dot.y < NEAR[1] * high and abs(other.x - dot.x) < NEAR[0] * wide
        for other in dots
        if other is not dot
    )
