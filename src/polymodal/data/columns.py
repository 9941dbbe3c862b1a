"""Columns: what is known of every item of a dataset, one kind of thing a column.

A column that is not there is not known of any item; where it is known of some alone, `present` says
of which. Rows of one column have one type; the names below have the same meaning everywhere, and a
modality such as t1 or flair stands under its own name, channels first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self, overload, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float32, Int64, Shaped

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_scales import FileRule

KNOWN: Mapping[str, str] = {
    "image": "a picture as the data show it, uint8 h w 3",
    "captions": "sentences about the image, a tuple of Caption",
    "text": "free text beside the image, such as a report",
    "regions": "what is where in the image, a tuple of Region",
    "layout": "regions by label and box alone, of which a picture is to be made",
    "relations": "for each relation the pairs of regions for which it holds",
    "mask": "the region of each pixel, 0 for none, or the class where it is a target",
    "label": "the class, one of several that attributes may describe",
    "targets": "how much each of several classes is true of the item",
    "group": "whom the item is of, such as a patient: no group is in two splits",
    "affine": "where voxel i, j, k (column, row, plane) is in the patient, a 4×4 matrix in mm",
    "parts": "each part's x and y in sides of the picture, and 1 where it is seen",
    "features": "the image as a vector that an encoder computed",
    "proposals": "boxes where something may be, those of no area filling up the rows",
    "proposal_features": "each proposal as a vector that an encoder computed",
    "file": "where the picture's file is",
    "true_texts": "all texts in words of a fixed list that are true of the image",
    "places": "where the objects of each true text are, in sides of the picture",
}
"""What a column of this name holds."""

GIVEN_BY: Mapping[str, str] = {
    "image": "a world such as scenes, or folder:PATH",
    "captions": "a world such as scenes, folder:PATH with a captions.csv, or text:PATH",
    "regions": "a world such as scenes, flickr30k:PATH,images=PATH or coco:PATH",
    "layout": "a world such as scenes, coco:PATH or vg:PATH,images=PATH; parts, as of birds, do as well",
    "label": "birds, which is drawn, or for instance cub:PATH,splits=PATH",
    "parts": "birds, which is drawn, or for instance cub:PATH,splits=PATH",
    "text": "xrays, which is drawn, or open-i:PATH",
    "targets": "xrays, which is drawn, or open-i:PATH",
    "mask": "phantoms, which is drawn, or for instance lgg:PATH or brats:PATH",
    "group": "phantoms or xrays, which are drawn, or for instance lgg:PATH, brats:PATH or open-i:PATH",
    "features": "any data with --features",
    "proposals": "any data with --regions, a folder that `polymodal regions` wrote",
    "proposal_features": "any data with --regions, a folder that `polymodal regions` wrote",
}
"""Data that have it."""

Rows = Int64[np.ndarray, " m"]


@runtime_checkable
class Column(Protocol):
    """One thing for each item, in the order of the items."""

    @property
    def present(self) -> Bool[np.ndarray, " n"] | None:
        """Of which items it is known; None if of all."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int, /) -> Any:
        """What it holds for one item; None where it is missing."""

    def batch(self, rows: Sequence[int]) -> Any:
        """Some items' together: arrays stacked, zeros in place of missing ones; other things listed."""

    def take(self, rows: Rows) -> Self:
        """The same column of some items."""


def checked(count: int, present: np.ndarray | None) -> None:
    """Refuse a note of what is present that is not about these rows."""
    if present is not None and (present.dtype != np.bool_ or present.shape != (count,)):
        raise PolymodalError(
            f"present says of each of {count} rows whether it is there, true or false, but is "
            f"{present.dtype} of shape {list(present.shape)}."
        )


def taken(present: np.ndarray | None, rows: Rows) -> np.ndarray | None:
    """Which of some rows are present."""
    return None if present is None else present[rows]


@dataclass(frozen=True, eq=False)
class Stored:
    """Arrays of one shape, in memory or mapped into it."""

    values: Shaped[np.ndarray, "n ..."] = field(repr=False)
    present: Bool[np.ndarray, " n"] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        checked(len(self.values), self.present)

    @classmethod
    def of(cls, rows: Sequence[np.ndarray | None]) -> "Stored":
        """Arrays one by one, None for one that is missing.

        >>> column = Stored.of([np.ones((1, 2)), None])
        >>> column.present.tolist(), column.batch([1]).tolist()
        ([True, False], [[[0.0, 0.0]]])
        """
        present = np.array([row is not None for row in rows], np.bool_)
        there = [np.asarray(row) for row in rows if row is not None]
        if not there:
            raise PolymodalError(
                "A column has no row that is there, so its shape is not known. Leave the column out."
            )
        values = np.zeros((len(rows), *there[0].shape), there[0].dtype)
        for place, row in zip(np.flatnonzero(present).tolist(), there, strict=True):
            if (row.shape, row.dtype) != (there[0].shape, there[0].dtype):
                raise PolymodalError(
                    f"Row {place} of a column is {row.dtype} of shape {list(row.shape)}, but those "
                    f"before it {there[0].dtype} of {list(there[0].shape)}. Bring all to one shape."
                )
            values[place] = row
        return cls(values, present=None if present.all() else present)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Any:
        return self.values[row] if self.present is None or self.present[row] else None

    def batch(self, rows: Sequence[int]) -> Shaped[np.ndarray, "b ..."]:
        """Some items' arrays, stacked."""
        chosen = np.asarray(rows, np.int64)
        arrays: np.ndarray = self.values[chosen]
        if self.present is not None:
            arrays[~self.present[chosen]] = 0
        return arrays

    def take(self, rows: Rows) -> Self:
        """The same column of some items; of a stretch of them without a copy."""
        some: Any = rows
        if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
            some = slice(int(rows[0]), int(rows[0]) + len(rows))
        return replace(self, values=self.values[some], present=taken(self.present, rows))


@dataclass(frozen=True, eq=False)
class Read:
    """Arrays of one shape that are read, or drawn, whenever they are asked for."""

    length: int
    some: Callable[[Sequence[int]], np.ndarray] = field(repr=False)
    """Some items' arrays, stacked."""
    present: Bool[np.ndarray, " n"] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        checked(self.length, self.present)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, row: int) -> Any:
        return self.some([row])[0] if self.present is None or self.present[row] else None

    def batch(self, rows: Sequence[int]) -> Shaped[np.ndarray, "b ..."]:
        """Some items' arrays, stacked; of those that are missing nothing is read."""
        if self.present is None:
            return self.some(rows)
        there = self.present[np.asarray(rows, np.int64)]
        known = [row for row, here in zip(rows, there.tolist(), strict=True) if here]
        arrays = self.some(known or [int(self.present.argmax())])  # of one at least, for its shape
        whole = np.zeros((len(rows), *arrays.shape[1:]), arrays.dtype)
        whole[there] = arrays[: len(known)]
        return whole

    def take(self, rows: Rows) -> Self:
        """The same column of some items."""
        some = partial(through_some, self.some, rows)
        return replace(self, length=len(rows), some=some, present=taken(self.present, rows))


@dataclass(frozen=True, eq=False)
class Each(Sequence[Any]):
    """Things that are no arrays, made one by one whenever they are asked for."""

    length: int
    one: Callable[[int], Any] = field(repr=False)
    present: Bool[np.ndarray, " n"] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        checked(self.length, self.present)

    @classmethod
    def of(cls, rows: Sequence[Any]) -> "Each":
        """Things as they are, None for one that is missing.

        >>> Each.of(["a", None]).batch([1, 0])
        [None, 'a']
        """
        present = np.array([row is not None for row in rows], np.bool_)
        return cls(len(rows), tuple(rows).__getitem__, present=None if present.all() else present)

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self[place] for place in range(self.length)[row]]
        place = range(self.length)[row]  # which refuses what is outside
        return self.one(place) if self.present is None or self.present[place] else None

    def batch(self, rows: Sequence[int]) -> list[Any]:
        """Some items' things."""
        return [self[row] for row in rows]

    def take(self, rows: Rows) -> Self:
        """The same column of some items."""
        one = partial(through_one, self.one, rows)
        return replace(self, length=len(rows), one=one, present=taken(self.present, rows))


def through_some(
    some: Callable[[Sequence[int]], np.ndarray], rows: Rows, places: Any
) -> np.ndarray:
    """What `some` gives for the rows at these places."""
    return some([int(rows[place]) for place in places])


def through_one(one: Callable[[int], Any], rows: Rows, place: int) -> Any:
    """What `one` gives for the row at this place."""
    return one(int(rows[place]))


@dataclass(frozen=True, eq=False)
class Labels(Stored):
    """Each item's class, as its place among classes that attributes may describe (003, §4.2.3).

    All splits of a dataset share its classes; those of the split at hand are the labels in it.
    """

    classes: tuple[str, ...] = field(repr=False, kw_only=True)
    """The names of all classes, seen or not, as the dataset writes them."""
    attributes: Float32[np.ndarray, "c a"] | None = field(default=None, repr=False, kw_only=True)
    """What is true of each class, and how much, as the dataset gives it."""
    attribute_names: tuple[str, ...] = field(default=(), repr=False, kw_only=True)
    """The name of each attribute; empty where they are not known."""


@dataclass(frozen=True, eq=False)
class Parts(Read):
    """Each part's x and y in sides of the picture, and 1 where it can be seen, else three zeros."""

    names: tuple[str, ...] = field(kw_only=True)
    """The name of each part."""


@dataclass(frozen=True, eq=False)
class Scans(Read):
    """A modality's scans, channels first."""

    rule: FileRule = field(kw_only=True)
    """How they were made of files."""


@dataclass(frozen=True, eq=False)
class Masks(Read):
    """Each pixel's or voxel's class, as its place among the classes: whole numbers, h w or d h w."""

    classes: tuple[str, ...] = field(kw_only=True)
    """The name of each class; what is 0, such as background, is the first."""


@dataclass(frozen=True, eq=False)
class Targets(Stored):
    """How much each of several classes is true of each item, n c float32."""

    classes: tuple[str, ...] = field(kw_only=True)
    """The name of each class, such as a finding."""


@dataclass(frozen=True, eq=False)
class Captions(Each):
    """Each image's captions, and where the truth is known, of which other images each is true."""

    truth: Callable[[], Callable[[slice], Bool[np.ndarray, "b n"]]] | None = field(
        default=None, repr=False, kw_only=True
    )
    """Finds out, for some rows of all captions one after another, of which images they are true."""

    def take(self, rows: Rows) -> Self:
        """The same column of some items, of whose captions it is no longer known."""
        return replace(super().take(rows), truth=None)


@dataclass(frozen=True, eq=False)
class TrueTexts(Each):
    """All texts that are true of each image, in words of a fixed list."""

    words: tuple[str, ...] = field(kw_only=True)
    """All the words there are, kind by kind."""
