"""The layouts of a dataset as padded rows of a fixed list of classes, and which of them are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.ranges import OneOrMore, ShareBelowOne, ShareOfSide, check_ranges
from polymodal.data.layout_objects import labels_of, objects_of, size_of_pictures
from polymodal.data.layout_record import Layout, clipped, sound, what_is_wrong
from polymodal.data.records import Dataset


@dataclass(frozen=True, eq=False)
class LayoutRows:
    """Layouts of n items with the same number of places; after the last object of an item, zeros."""

    boxes: Float32[np.ndarray, "n o 4"]
    classes: Int64[np.ndarray, "n o"]
    """Each object's class, as its place in a list of classes."""
    there: Bool[np.ndarray, "n o"]
    """Which places hold an object."""

    def __len__(self) -> int:
        return len(self.there)

    def layout(self, row: int, classes: Sequence[str]) -> Layout:
        """One item's, in words."""
        here = self.there[row]
        labels = tuple(classes[code] for code in self.classes[row][here].tolist())
        return Layout(labels, self.boxes[row][here])


@dataclass(frozen=True, kw_only=True)
class LayoutRules:
    """Which items and objects of a dataset are learned from; the defaults are the field's."""

    fewest: OneOrMore[int] = 3
    """Items with fewer objects are left out."""
    most: OneOrMore[int] = 8
    """Items with more objects are left out."""
    least_area: ShareBelowOne[float] = 0.02
    """Objects whose box is no larger share of the picture are left out, before objects are counted."""
    part_side: ShareOfSide = 0.2
    """Side of the box of a part, in sides of the picture, where data have parts but no boxes."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.fewest > self.most:
            raise PolymodalError(
                f"fewest is {self.fewest} but most is {self.most}, so no layout would be left. Give a "
                "fewest that is not above most."
            )


@dataclass(frozen=True, eq=False)
class ChosenLayouts:
    """The layouts of a split that its rules keep, and what they leave out."""

    rows: LayoutRows
    items: Int64[np.ndarray, " n"]
    """The place in the dataset of each row."""
    left_out: Mapping[str, int]
    """How many, by the reason: items, and objects of all items."""

    def __str__(self) -> str:
        """How many there are, and what was left out."""
        out = "; ".join(f"{count:,} {reason}" for reason, count in self.left_out.items() if count)
        return f"{len(self.rows):,} layouts" + (f" (left out: {out})" if out else "")


@dataclass(frozen=True, eq=False)
class Objects:
    """All objects of a split, one after another."""

    labels: Sequence[str]
    boxes: Float[np.ndarray, "n 4"]
    """In sides of the picture."""
    areas: Float[np.ndarray, " n"]
    """As shares of the picture."""
    owner: Int64[np.ndarray, " n"] = field(repr=False)
    """The item of each."""


def classes_of(train: Dataset, part_side: float = 0.2) -> tuple[str, ...]:
    """The labels that occur in the layouts of a training split, sorted: the classes of a model."""
    return labels_of(objects_of(train, part_side))


def layouts_of(
    dataset: Dataset, classes: Sequence[str], rules: LayoutRules | None = None
) -> ChosenLayouts:
    """The layouts of a split as padded rows: small objects left out, then items with too few or many.

    Args:
        dataset: data with the column `layout`, with regions that have boxes, or with parts.
        classes: the classes of a model; another label is an error.
        rules: what is left out.
    """
    rules = rules or LayoutRules()
    found = objects_in(dataset, rules.part_side)
    large = found.areas > rules.least_area  # as sg2im has it
    counts = np.bincount(found.owner[large], minlength=len(dataset))
    few, many = counts < rules.fewest, counts > rules.most
    left_out = {
        f"items with fewer than {rules.fewest} objects": int(few.sum()),
        f"items with more than {rules.most} objects": int(many.sum()),
        f"objects of at most {rules.least_area:.3g} of the picture": int((~large).sum()),
    }
    items = np.flatnonzero(~(few | many))
    if not items.size:
        raise PolymodalError(
            f"No layout of {len(dataset):,} items is left: "
            f"{', '.join(f'{count:,} {reason}' for reason, count in left_out.items())}. "
            "Allow fewer objects, more, or smaller ones."
        )
    kept = np.flatnonzero(large & ~(few | many)[found.owner])
    codes = [
        code_of(found.labels[k], classes, f"the layout of {dataset.ids[found.owner[k]]}")
        for k in kept.tolist()
    ]
    rows = padded(counts[items], found.boxes[kept], np.array(codes, np.int64), rules.most)
    return ChosenLayouts(rows, items, left_out)


def objects_in(dataset: Dataset, part_side: float) -> Objects:
    """All objects of a split, their boxes checked."""
    high, wide = size_of_pictures(dataset)
    by_item = list(objects_of(dataset, part_side))
    regions = [region for some in by_item for region in some]
    owner = np.repeat(np.arange(len(by_item)), [len(some) for some in by_item])
    pixels = np.array([region.box for region in regions], np.float64).reshape(-1, 4)
    boxes = pixels / (wide, high, wide, high)
    for bad in np.flatnonzero(~sound(boxes)).tolist():
        raise PolymodalError(
            f"The layout of {dataset.ids[owner[bad]]}, {regions[bad].label!r}: "
            f"{what_is_wrong(pixels[bad].tolist(), (wide, high))}"
        )
    areas = (pixels[:, 2:] - pixels[:, :2]).prod(1) / (wide * high)
    return Objects([region.label for region in regions], clipped(boxes), areas, owner)


def code_of(label: str, classes: Sequence[str], whose: str) -> int:
    """A label's place among the classes of a model."""
    try:
        return classes.index(label)
    except ValueError:
        error = unknown(f"class in {whose}:", label, classes)
        raise PolymodalError(
            f"{error} A model knows the classes of its training layouts alone: rename the object or leave "
            "it out, or train on data that have it."
        ) from None


def rows_of(
    layouts: Sequence[Layout], classes: Sequence[str], most: int | None = None
) -> LayoutRows:
    """Layouts as padded rows, with as many places as the longest has objects, or as `most`.

    >>> box = np.array([[0.0, 0.0, 0.5, 1.0]], np.float32)
    >>> rows_of([Layout(("dog",), box)], ("cat", "dog"), most=2).classes
    array([[1, 0]])
    """
    counts = np.array([len(layout) for layout in layouts])
    width = int(counts.max()) if most is None else most
    if counts.max() > width:
        raise PolymodalError(
            f"A layout has {counts.max()} objects, but at most {width} fit. Leave some of them out."
        )
    codes = [
        code_of(label, classes, f"layout {number}")
        for number, layout in enumerate(layouts, 1)
        for label in layout.labels
    ]
    boxes = clipped(np.concatenate([layout.boxes for layout in layouts]))
    return padded(counts, boxes, np.array(codes, np.int64), width)


def padded(
    counts: Int64[np.ndarray, " n"],
    boxes: Float[np.ndarray, "k 4"],
    codes: Int64[np.ndarray, " k"],
    width: int,
) -> LayoutRows:
    """Objects that stand one after another, `counts` of them an item, as rows of one width."""
    there = np.arange(width) < counts[:, None]
    rows = LayoutRows(
        boxes=np.zeros((*there.shape, 4), np.float32),
        classes=np.zeros(there.shape, np.int64),
        there=there,
    )
    rows.boxes[there], rows.classes[there] = boxes, codes
    return rows
