"""What a reader yields of an image whose things are located: an entry with boxes and phrases."""

from dataclasses import dataclass
from math import isfinite

from polymodal.data.formats.entry import Entry
from polymodal.data.records import Caption, Region

Box = tuple[float, float, float, float]

SLACK = 1
"""Pixels by which a box may lie outside its picture: rounding, which is clipped."""


@dataclass(frozen=True)
class Located:
    """An image, its captions with their phrases, and its regions with boxes in its own pixels."""

    entry: Entry
    captions: tuple[Caption, ...]
    regions: tuple[Region, ...]
    width: int
    height: int


def wrong(box: Box, width: int, height: int) -> tuple[str, str] | None:
    """The kind of a box's flaw and the reason, None for a box of a picture this large."""
    x0, y0, x1, y1 = box
    edges = " ".join(f"{edge:g}" for edge in box)
    if not all(map(isfinite, box)) or x1 <= x0 or y1 <= y0:
        return "inverted box", f"the box {edges} ends before it begins. Mend it, or remove it."
    inside = clipped(box, width, height)
    out = max(abs(a - b) for a, b in zip(inside, box, strict=True))
    if out > SLACK or inside[2] <= inside[0] or inside[3] <= inside[1]:
        reason = f"the box {edges} does not lie in the picture of {width}×{height} pixels"
        return "box outside the picture", f"{reason}. Mend it, or remove it."
    return None


def clipped(box: Box, width: int, height: int) -> Box:
    """What of a box lies in its picture.

    >>> clipped((-0.5, 0, 10, 8), 10, 8)
    (0, 0, 10, 8)
    """
    x0, y0, x1, y1 = box
    return max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)
