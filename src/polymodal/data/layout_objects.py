"""What a dataset knows of where things are, as the objects of layouts, item by item."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset, Region


def objects_of(dataset: Dataset, part_side: float) -> Iterator[tuple[Region, ...]]:
    """The objects of each item, their boxes in pixels of its picture.

    They are the column `layout`; without it the regions that have a box; without those the parts that
    can be seen, each in a square box.

    Args:
        dataset: the split.
        part_side: the side of a part's box, in sides of the picture.
    """
    if "layout" in dataset.columns:
        return located(dataset, "layout")
    if "regions" in dataset.columns:
        return located(dataset, "regions")
    if "parts" in dataset.columns:
        return parts_as_objects(dataset, part_side)
    column: Any = dataset.column("layout", "A layout")  # which says what there is
    return iter(column)


def located(dataset: Dataset, name: str) -> Iterator[tuple[Region, ...]]:
    """The regions of a column that have a box; those of a layout must all have one."""
    for id, regions in zip(dataset.ids, dataset.column(name), strict=True):
        boxed = tuple(region for region in regions or () if region.box is not None)
        if name == "layout" and len(boxed) < len(regions or ()):
            bare = next(region.label for region in regions if region.box is None)
            raise PolymodalError(
                f"The layout of {id} has no box for {bare!r}. Give every object a box, or remove it."
            )
        yield boxed


def parts_as_objects(dataset: Dataset, side: float) -> Iterator[tuple[Region, ...]]:
    """The parts of each item that can be seen, each in a box about its place, cut at the picture's edges."""
    column = dataset.column("parts")
    high, wide = size_of_pictures(dataset)
    for places in column:
        rows = enumerate(() if places is None else places.tolist())
        yield tuple(
            Region(column.names[k], box_about(x, y, side, wide, high))
            for k, (x, y, seen) in rows
            if seen
        )


def box_about(
    x: float, y: float, side: float, wide: int, high: int
) -> tuple[float, float, float, float]:
    """A box in pixels about a place in sides of the picture, as wide and high as it can be within it.

    >>> box_about(0.5, 0.0, 0.5, 100, 60)
    (25.0, 0.0, 75.0, 15.0)
    """
    x0, x1 = np.clip([x - side / 2, x + side / 2], 0, 1) * wide
    y0, y1 = np.clip([y - side / 2, y + side / 2], 0, 1) * high
    return float(x0), float(y0), float(x1), float(y1)


def size_of_pictures(dataset: Dataset) -> tuple[int, int]:
    """Height and width of the pictures of a split, in pixels."""
    if not len(dataset):
        raise PolymodalError("There is no layout: the split is empty. Give one with pictures.")
    high, wide = dataset.images([0]).shape[1:3]
    return high, wide


def labels_of(objects: Iterator[Sequence[Region]]) -> tuple[str, ...]:
    """All labels that occur, sorted."""
    return tuple(sorted({region.label for some in objects for region in some}))
