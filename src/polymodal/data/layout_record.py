"""A layout: what is to be where in a picture, and what may be wrong with its boxes.

Boxes are x0, y0, x1, y1 in sides of the picture, so that a layout has no size of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32

from polymodal.base.errors import PolymodalError

SLACK = 1e-3
"""Sides of the picture by which a box may lie outside it: rounding, which is clipped."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Objects by label and box, of which a picture is to be made."""

    labels: tuple[str, ...]
    boxes: Float32[np.ndarray, "o 4"]

    def __post_init__(self) -> None:
        if self.boxes.shape != (len(self.labels), 4):
            raise PolymodalError(
                f"A layout has a box of four edges for each of its {len(self.labels)} labels, but its "
                f"boxes have the shape {list(self.boxes.shape)}."
            )
        if not self.labels:
            raise PolymodalError("A layout is empty. Give it one object at least.")
        for place in np.flatnonzero(~sound(self.boxes)).tolist():
            raise PolymodalError(
                f"Object {place + 1} of a layout ({self.labels[place]}): "
                f"{what_is_wrong(self.boxes[place].tolist(), None)}"
            )

    def __len__(self) -> int:
        return len(self.labels)


def as_layouts(given: Any) -> list[Layout]:
    """A layout, or several, as a list."""
    layouts: list[Any] = [given] if isinstance(given, Layout | str) else list(given)
    if not layouts:
        raise PolymodalError("There is no layout to make pictures of. Give one at least.")
    for own in layouts:
        if not isinstance(own, Layout):
            raise PolymodalError(
                f"Pictures are made of a Layout or of several, not of {own!r}. "
                "polymodal.data.layout_files.read_layout reads one of a file."
            )
    return layouts


def sound(boxes: Float[np.ndarray, "n 4"]) -> Bool[np.ndarray, " n"]:
    """Whether each box begins before it ends and lies in the picture.

    >>> sound(np.array([[0, 0.1, 0.5, 1], [0.5, 0, 0.2, 1], [0.9, 0, 1.2, 1]])).tolist()
    [True, False, False]
    """
    within = (boxes >= -SLACK) & (boxes <= 1 + SLACK)  # false of what is no number
    inner = clipped(boxes)
    return np.all(within, 1) & np.all(inner[:, :2] < inner[:, 2:], 1)


def clipped(boxes: Float[np.ndarray, "n 4"]) -> Float[np.ndarray, "n 4"]:
    """What of each box lies in the picture."""
    return boxes.clip(0, 1)


def what_is_wrong(
    box: Sequence[float], pixels: tuple[int, int] | None, remedy: str = "Mend it, or remove it."
) -> str:
    """Why a box is not sound: of a picture of this width and height, or in sides of the picture.

    >>> what_is_wrong((0.5, 0, 0.2, 1), None, "Swap them.")
    'the box 0.5 0 0.2 1 ends before it begins: x0 must be less than x1, y0 less than y1. Swap them.'
    >>> what_is_wrong((60, 2, 66, 5), (64, 32))
    'the box 60 2 66 5 does not lie in the picture of 64×32 pixels. Mend it, or remove it.'
    """
    x0, y0, x1, y1 = box
    edges = " ".join(f"{edge:g}" for edge in box)
    if not (x0 < x1 and y0 < y1):
        why = "ends before it begins: x0 must be less than x1, y0 less than y1"
    elif pixels is None:
        why = "does not lie in the picture, whose sides are 1"
    else:
        why = f"does not lie in the picture of {pixels[0]}×{pixels[1]} pixels"
    return f"the box {edges} {why}. {remedy}"
