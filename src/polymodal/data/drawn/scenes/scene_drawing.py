"""Layouts and pictures from the tracer, many at once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import UInt8

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.kernel.compiling import spread
from polymodal.data.drawn.scenes import geometry, stage, tracer
from polymodal.data.drawn.scenes.attributes import KINDS
from polymodal.data.drawn.scenes.scene_layout import GLIMPSE, RESTARTS, VISIBLE
from polymodal.data.drawn.scenes.world_spec import WorldSpec
from polymodal.data.records import Images, Region


@dataclass(frozen=True)
class Scene:
    """The truth of a drawn image: what is in it, how it stands, and whose each pixel is."""

    regions: tuple[Region, ...]
    relations: dict[str, tuple[tuple[int, int], ...]]
    """For each relation the pairs (a, b) for which 'a is RELATION b' (or 'of b') holds."""
    mask: UInt8[np.ndarray, "h w"] = field(repr=False, compare=False)
    """0 for the ground, k + 1 for region k."""


@dataclass(frozen=True)
class Layout:
    """An item before it is drawn: its stage and its bodies, as rows of numbers."""

    stage: np.ndarray
    bodies: np.ndarray

    def words(self) -> tuple[tuple[str, str, str, str], ...]:
        """Each body's size, colour, material and shape."""
        codes = self.bodies[:, :4].astype(int)
        size, colour, material, shape = KINDS.values()
        return tuple((size[a], colour[b], material[c], shape[d]) for a, b, c, d in codes.tolist())

    def relations(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """For each relation the pairs (a, b) of which 'a is RELATION b' holds on the ground."""
        aside = self.bodies[:, geometry.ASIDE].tolist()
        ahead = self.bodies[:, geometry.AHEAD].tolist()
        pairs = [(a, b) for a in range(len(aside)) for b in range(len(aside)) if a != b]
        return {
            "left": tuple((a, b) for a, b in pairs if aside[a] < aside[b]),
            "right": tuple((a, b) for a, b in pairs if aside[a] > aside[b]),
            "front": tuple((a, b) for a, b in pairs if ahead[a] < ahead[b]),
            "behind": tuple((a, b) for a, b in pairs if ahead[a] > ahead[b]),
        }


def lay_out(world: WorldSpec, item: int) -> Layout:
    """Find out what is in one item of a world and where it stands."""
    row = np.zeros(stage.COLUMNS)
    bodies = np.zeros((world.objects[1], geometry.COLUMNS))
    least = GLIMPSE if world.overlap else VISIBLE
    count = tracer.lay_out(world.root, item, world.objects[0], world.choices(), least, row, bodies)
    if count < 0:
        raise PolymodalError(
            f"No room was found for the {-count} objects of {world.id(item)} "
            f"in {RESTARTS} attempts. Ask for fewer objects, or for overlap."
        )
    return Layout(row, bodies[:count].copy())


def attributes(world: WorldSpec, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The attribute codes of many items (items × objects × 4) and their numbers of objects."""
    bodies = np.zeros((items.size, world.objects[1], 4))
    counts = tracer.list_attributes(
        world.root, items.astype(np.int64), world.objects[0], world.choices(), bodies
    )
    return bodies.astype(np.int64), counts


def paint(layouts: Iterable[Layout], size: int, workers: int | None = None) -> Images:
    """Draw pictures of many layouts at once; their pixels do not depend on how many at once."""
    rows = list(layouts)
    images = np.zeros((len(rows), size, size, 3), np.uint8)

    def one(i: int) -> None:
        tracer.paint(rows[i].stage, rows[i].bodies, images[i])

    spread(one, range(len(rows)), workers)
    return images


def scene(layout: Layout, size: int) -> Scene:
    """The truth of an item as seen in an image of a given size."""
    bodies = layout.bodies
    mask = np.zeros((size, size), np.uint8)
    boxes = np.zeros((len(bodies), 4), np.int64)
    tracer.find(layout.stage, bodies, mask, boxes)
    regions = tuple(
        Region(
            label=words[-1],
            box=(box[0], box[1], box[2], box[3]),
            mask=mask == number,
            attributes={
                **dict(zip(KINDS, words, strict=True)),
                "position": tuple(float(body[at]) for at in (geometry.X, geometry.Y, geometry.Z)),
                "depth": float(body[geometry.DEPTH]),
                "visible": float(body[geometry.VISIBLE]),
            },
        )
        for number, (words, body, box) in enumerate(
            zip(layout.words(), bodies, boxes.tolist(), strict=True), 1
        )
    )
    return Scene(regions, layout.relations(), mask)
