"""Layouts on the device, and the maps that are drawn of them: classes, edges, masks in their boxes.

A pixel is inside a box if its centre is. A box in which no centre lies covers the pixel of its own.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.data.layout_examples import LayoutBatch


@dataclass(frozen=True)
class Layouts:
    """Boxes with classes, a picture a row; rows are filled up with objects that are not there."""

    boxes: Float[Tensor, "b o 4"]
    """x0, y0, x1, y1 in sides of the picture."""
    classes: Int[Tensor, "b o"]
    there: Bool[Tensor, "b o"]

    @classmethod
    def of(cls, batch: LayoutBatch) -> "Layouts":
        """Those of some examples."""
        return cls(batch.boxes, batch.classes, batch.there)

    def __len__(self) -> int:
        return len(self.boxes)

    @cached_property
    def objects(self) -> Int[Tensor, " n"]:
        """The places of all objects that are there, among those of all rows one after another. To know how
        many they are, the host must wait for a GPU: it does so once."""
        return self.there.flatten().nonzero()[:, 0]

    def to(self, device: torch.device | str) -> "Layouts":
        """The same on another device."""
        return Layouts(self.boxes.to(device), self.classes.to(device), self.there.to(device))

    def take(self, rows: Int[Tensor, " n"]) -> "Layouts":
        """Some of them."""
        return Layouts(self.boxes[rows], self.classes[rows], self.there[rows])

    def mirrored(self, chosen: Bool[Tensor, " b"]) -> "Layouts":
        """The same with left and right exchanged in some of them."""
        x0, y0, x1, y1 = self.boxes.unbind(-1)
        mirrored = torch.stack([1 - x1, y0, 1 - x0, y1], -1)
        boxes = torch.where(chosen[:, None, None], mirrored, self.boxes)
        return Layouts(boxes, self.classes, self.there)


def spans(
    low: Float[Tensor, "b o"], high: Float[Tensor, "b o"], size: int
) -> Bool[Tensor, "b o {size}"]:
    """The pixels of a side that lie between two places of it, or the one in their middle."""
    pixels = torch.arange(size, device=low.device)
    centres = (pixels + 0.5) / size
    inside = (low[..., None] <= centres) & (centres < high[..., None])
    middle = ((low + high) / 2 * size).floor().clamp(0, size - 1)
    return inside | (~inside.any(-1, keepdim=True) & (pixels == middle[..., None]))


def sides(
    layouts: Layouts, size: int
) -> tuple[Bool[Tensor, "b o {size}"], Bool[Tensor, "b o {size}"]]:
    """The columns and the rows that each box covers; none of an object that is not there."""
    x0, y0, x1, y1 = layouts.boxes.unbind(-1)
    there = layouts.there[..., None]
    return spans(x0, x1, size) & there, spans(y0, y1, size) & there


def covered(layouts: Layouts, size: int) -> Bool[Tensor, "b o {size} {size}"]:
    """The pixels of each box."""
    columns, rows = sides(layouts, size)
    return rows[..., :, None] & columns[..., None, :]


def one_hot(layouts: Layouts, classes: int, size: int) -> Float[Tensor, "b k {size} {size}"]:
    """1 in the map of a class where a box of that class is, else 0 (003, §6.3.2; Fig. 6.4, left)."""
    kind = torch.nn.functional.one_hot(layouts.classes, classes).to(layouts.boxes.dtype)
    inside = covered(layouts, size).to(layouts.boxes.dtype)
    return torch.einsum("bohw,bok->bkhw", inside, kind).clamp(max=1)


def boundaries(layouts: Layouts, size: int) -> Float[Tensor, "b 1 {size} {size}"]:
    """1 on the outermost pixels of every box, else 0 (003, §6.3.2; Fig. 6.4, right)."""
    columns, rows = sides(layouts, size)
    left_right, above_below = ends(columns), ends(rows)
    across = rows[..., :, None] & left_right[..., None, :]
    down = above_below[..., :, None] & columns[..., None, :]
    return (across | down).any(1, keepdim=True).to(layouts.boxes.dtype)


def ends(inside: Bool[Tensor, "b o n"]) -> Bool[Tensor, "b o n"]:
    """The first and the last pixel of each span."""
    beside = torch.nn.functional.pad(inside, (1, 1))
    return inside & ~(beside[..., :-2] & beside[..., 2:])


def placed(
    masks: Float[Tensor, "b o m m"], layouts: Layouts, size: int
) -> Float[Tensor, "b o {size} {size}"]:
    """Each mask interpolated into its box, 0 outside.

    A value of a mask stands in the middle of its own share of the box; beyond the outermost ones they
    go on as they are. Interpolation is linear along either side, so it is two matrix products.
    """
    x0, y0, x1, y1 = layouts.boxes.unbind(-1)
    across = shares(x0, x1, size, masks.shape[-1]).to(masks.dtype)
    down = shares(y0, y1, size, masks.shape[-1]).to(masks.dtype)
    whole = down @ masks @ across.mT
    return torch.where(covered(layouts, size), whole, 0)


def shares(
    low: Float[Tensor, "b o"], high: Float[Tensor, "b o"], size: int, cells: int
) -> Float[Tensor, "b o {size} {cells}"]:
    """How much each of a mask's cells has in each pixel of a side."""
    centres = (torch.arange(size, device=low.device, dtype=low.dtype) + 0.5) / size
    within = (centres - low[..., None]) / (high - low).clamp_min(1e-6)[..., None]
    at = (within * cells - 0.5).clamp(0, cells - 1)
    steps = torch.arange(cells, device=low.device, dtype=low.dtype)
    return (1 - (at[..., None] - steps).abs()).clamp_min(0)
