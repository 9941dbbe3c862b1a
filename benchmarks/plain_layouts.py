"""Maps, crops and scene graphs of layouts as one writes them first: picture by picture, box by box.

They are what `nn.layout_maps`, `nn.layout_conditioning`, `nn.layout_discriminators` and
`maths.layout_relations` make of whole batches at once.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import avg_pool2d, grid_sample, pad

from polymodal.nn.layout_conditioning import Objects
from polymodal.nn.layout_discriminators import CROP
from polymodal.nn.layout_maps import Layouts

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Thing:
    """An object of a picture."""

    place: int
    """In its row."""
    kind: int
    box: Box

    def pixels(self, size: int) -> tuple[slice, slice]:
        """The rows and columns of pixels that it covers."""
        x0, y0, x1, y1 = self.box
        return covered(y0, y1, size), covered(x0, x1, size)


Pictures = list[list[Thing]]
"""The objects of each picture."""


def covered(low: float, high: float, size: int) -> slice:
    """The pixels of a side whose centre is inside, or the one in the middle."""
    inside = [pixel for pixel in range(size) if low <= (pixel + 0.5) / size < high]
    inside = inside or [min(max(math.floor((low + high) / 2 * size), 0), size - 1)]
    return slice(inside[0], inside[-1] + 1)


def listed(layouts: Layouts) -> Pictures:
    """The objects that are there, one by one."""
    return [
        [Thing(o, int(kinds[o]), tuple(boxes[o].tolist())) for o in range(len(there)) if there[o]]
        for boxes, kinds, there in zip(layouts.boxes, layouts.classes, layouts.there, strict=True)
    ]


# Maps


def class_maps(
    pictures: Pictures, classes: int, size: int, device: torch.device
) -> Float[Tensor, "b k {size} {size}"]:
    """1 in the map of a class where a box of it is."""
    maps = torch.zeros(len(pictures), classes, size, size, device=device)
    for own, things in zip(maps, pictures, strict=True):
        for thing in things:
            rows, columns = thing.pixels(size)
            own[thing.kind, rows, columns] = 1
    return maps


def edge_maps(
    pictures: Pictures, size: int, device: torch.device
) -> Float[Tensor, "b 1 {size} {size}"]:
    """1 on the outermost pixels of every box."""
    maps = torch.zeros(len(pictures), 1, size, size, device=device)
    for own, things in zip(maps, pictures, strict=True):
        for thing in things:
            rows, columns = thing.pixels(size)
            for row in (rows.start, rows.stop - 1):
                own[0, row, columns] = 1
            for column in (columns.start, columns.stop - 1):
                own[0, rows, column] = 1
    return maps


def sampled(
    maps: Float[Tensor, "c h w"], across: Float[Tensor, " n"], down: Float[Tensor, " m"]
) -> Float[Tensor, "c m n"]:
    """Maps at places of their sides, from 0 to 1."""
    y, x = torch.meshgrid(2 * down - 1, 2 * across - 1, indexing="ij")
    grid = torch.stack([x, y], -1)[None]
    return grid_sample(maps[None], grid, padding_mode="border", align_corners=False)[0]


def placed(mask: Float[Tensor, "m m"], thing: Thing, size: int) -> Float[Tensor, "{size} {size}"]:
    """A mask interpolated into its box, 0 outside."""
    rows, columns = thing.pixels(size)
    x0, y0, x1, y1 = thing.box

    def within(pixels: slice, low: float, high: float) -> Tensor:
        """Where the centres of pixels are between two edges."""
        centres = (torch.arange(pixels.start, pixels.stop, device=mask.device) + 0.5) / size
        return (centres - low) / max(high - low, 1e-6)

    part = sampled(mask[None], within(columns, x0, x1), within(rows, y0, y1))[0]
    return pad(part, (columns.start, size - columns.stop, rows.start, size - rows.stop))


def masked(pictures: Pictures, objects: Objects, size: int) -> Float[Tensor, "b e {size} {size}"]:
    """Σ mask × embedding over a picture's objects, by the sum of the masks where that is above 1."""
    maps = []
    for things, embeddings, masks in zip(pictures, objects.embeddings, objects.masks, strict=True):
        alone = [placed(masks[thing.place], thing, size) for thing in things]
        filled = [
            embeddings[thing.place][:, None, None] * mask
            for thing, mask in zip(things, alone, strict=True)
        ]
        maps.append(torch.stack(filled).sum(0) / torch.stack(alone).sum(0).clamp_min(1))
    return torch.stack(maps)


# Crops


def crops(seen: Float[Tensor, "b 3 h w"], pictures: Pictures) -> Float[Tensor, "n 3 {CROP} {CROP}"]:
    """Every object of every picture, cut out by itself at twice the size and halved."""
    within = (torch.arange(2 * CROP, device=seen.device) + 0.5) / (2 * CROP)
    found = []
    for picture, things in zip(seen, pictures, strict=True):
        for thing in things:
            x0, y0, x1, y1 = thing.box
            large = sampled(picture, x0 + within * (x1 - x0), y0 + within * (y1 - y0))
            found.append(avg_pool2d(large, 2))
    return torch.stack(found)


# Scene graphs


def related(pictures: Pictures, most: int) -> Bool[Tensor, "b o o 6"]:
    """All relations of every pair of objects, pair by pair."""
    found = torch.zeros(len(pictures), most, most, 6, dtype=torch.bool)
    for own, things in zip(found, pictures, strict=True):
        for one in things:
            for other in things:
                if one.place != other.place:
                    held = torch.tensor(relations(one.box, other.box))
                    own[one.place, other.place] = held
    return found


def relations(one: Box, other: Box) -> list[bool]:
    """Left of, right of, above, below, inside, surrounding."""
    across = (other[0] + other[2]) / 2 - (one[0] + one[2]) / 2
    down = (other[1] + other[3]) / 2 - (one[1] + one[3]) / 2
    return [across > 0, across < 0, down > 0, down < 0, within(one, other), within(other, one)]


def within(one: Box, other: Box) -> bool:
    """Whether a box lies in another without touching its edges."""
    low = one[0] > other[0] and one[1] > other[1]
    return low and one[2] < other[2] and one[3] < other[3]
