"""What every dataset is, a table of typed columns; and what stands in a row of it."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int64, Shaped, UInt8

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data import contents
from polymodal.data.columns import GIVEN_BY, KNOWN, Column, Each

Images = UInt8[np.ndarray, "b h w 3"]


@dataclass(frozen=True)
class Phrase:
    """A noun phrase of a caption: its characters [start, end) and the regions that it names."""

    start: int
    end: int
    regions: tuple[int, ...]
    types: tuple[str, ...] = ()
    """What kinds of thing it names, where the data say so of the phrase itself."""


@dataclass(frozen=True)
class Caption:
    """A sentence about an image, and how much of the image it speaks of."""

    text: str
    extent: str = "whole"
    phrases: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Region:
    """Something in an image: what it is, where it is, and whatever else is known of it."""

    label: str
    box: tuple[float, float, float, float] | None = None
    """Visible pixels' bounds x0, y0, x1, y1; the last column and row are x1 - 1 and y1 - 1."""
    mask: Bool[np.ndarray, "h w"] | None = field(default=None, repr=False, compare=False)
    """Its visible pixels."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """What is true of it by name, such as colour; of drawn worlds also its position and depth, and
    which share of it is visible."""

    @property
    def name(self) -> str:
        """What it is called by its attributes that are words, and its label.

        >>> Region("cube", attributes={"size": "small", "shape": "cube", "depth": 3.0}).name
        'small cube'
        """
        words = [a for a in self.attributes.values() if isinstance(a, str) and a != self.label]
        return " ".join([*words, self.label])


@dataclass(frozen=True, eq=False)
class Record:
    """One item: what every column holds for it; what is not known of it is absent."""

    id: str
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __eq__(self, other: object) -> bool:
        """Whether another is of the same item, and the same is known of it."""
        if not isinstance(other, Record) or self.id != other.id:
            return False
        return bool(contents.as_json(self.values) == contents.as_json(other.values))

    def __hash__(self) -> int:
        return hash(self.id)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> Any:
        """What a column holds for the item."""
        if name not in self.values:
            raise PolymodalError(
                f"Of {self.id!r} no {name} is known, only {', '.join(self.values) or 'its id'}."
            )
        return self.values[name]

    @property
    def image(self) -> UInt8[np.ndarray, "h w 3"]:
        """The picture."""
        pixels: np.ndarray = self["image"]
        return pixels

    @property
    def captions(self) -> tuple[Caption, ...]:
        """What is said of it; nothing where there are no captions."""
        return tuple(self.values.get("captions", ()))

    @property
    def regions(self) -> tuple[Region, ...] | None:
        """What is where in it; None where nobody knows."""
        return self.values.get("regions")

    @property
    def relations(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """For each relation the pairs (a, b) for which 'a is RELATION b' (or 'of b') holds."""
        return dict(self.values.get("relations", {}))

    @property
    def mask(self) -> Shaped[np.ndarray, "..."]:
        """The region of each pixel: 0 for none, k + 1 for region k."""
        pixels: np.ndarray = self["mask"]
        return pixels


class Dataset:
    """A split: a table of typed columns, in a fixed order; what it lacks is absent from them.

    The same index always gives the same record.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        ids: Sequence[str] | None = None,
        fingerprint: str | None = None,
        rule: str = "as they were given",
    ) -> None:
        """A table of columns.

        Args:
            columns: each by its name; see `columns.KNOWN` for names that have a meaning.
            ids: each item's own; by default its number.
            fingerprint: a hash of what is in the table; by default of all its contents.
            rule: how its images became pixels, in words.
        """
        counts = {name: len(column) for name, column in columns.items()}
        if ids is not None:
            counts = {"ids": len(ids), **counts}
        if len(set(counts.values())) != 1:
            listed = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise PolymodalError(
                "All columns of a dataset have a row for each item, but theirs number "
                f"{listed or 'none'}. Mark what is missing as not present."
            )
        count = next(iter(counts.values()))
        self.columns: Mapping[str, Column] = dict(columns)
        self.ids: Sequence[str] = Each(count, str) if ids is None else ids
        self._fingerprint, self._rule = fingerprint, rule

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {len(self)}: {', '.join(self.columns)}"

    def __iter__(self) -> Iterator[Record]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, index: int) -> Record:
        """The whole record, with its truth where it is known."""
        place = self.within(index)
        known = {n: c for n, c in self.columns.items() if c.present is None or c.present[place]}
        return Record(self.ids[place], {name: column[place] for name, column in known.items()})

    def column(self, name: str, whom: str = "This") -> Any:
        """A column, or an error that says for whom it is needed, what there is, and what has it."""
        if name not in self.columns:
            meaning = f" ({KNOWN[name]})" if name in KNOWN else ""
            give = f" Give {GIVEN_BY[name]}." if name in GIVEN_BY else " Give data that have it."
            raise PolymodalError(
                f"{whom} needs the column {name!r}{meaning}, but these data have only: "
                f"{', '.join(self.columns)}.{give}"
            )
        return self.columns[name]

    def take(self, rows: Sequence[int]) -> "Dataset":
        """Some of its items, in this order."""
        places = np.array([self.within(row) for row in rows], np.int64)
        return Dataset(
            {name: column.take(places) for name, column in self.columns.items()},
            ids=[self.ids[place] for place in places.tolist()],
            fingerprint=files.fingerprint([self.fingerprint, places.tolist()]),
            rule=self.rule,
        )

    def within(self, index: int) -> int:
        """An index in [0, len), counted from the end where it is negative."""
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"There are {len(self)} records, so there is no index {place}.")
        return place % len(self)

    @property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""
        return self._fingerprint or self._own_fingerprint

    @cached_property
    def _own_fingerprint(self) -> str:
        return contents.fingerprint(self.ids, self.columns, self.rule)

    @property
    def rule(self) -> str:
        """How its images became pixels, in words, for the protocol of a result."""
        return self._rule

    # What the best-known columns hold

    def images(self, indices: Sequence[int]) -> Images:
        """A batch of images, read or drawn in parallel."""
        column = self.column("image", "Looking at pictures")
        images: np.ndarray = column.batch([self.within(index) for index in indices])
        return images

    def captions(self, index: int) -> tuple[Caption, ...]:
        """The captions alone, without touching a pixel."""
        captions: tuple[Caption, ...] = self.column("captions", "Reading")[self.within(index)] or ()
        return captions

    @property
    def labels(self) -> Int64[np.ndarray, " n"]:
        """Each image's class, as its place in `classes`."""
        labels: np.ndarray = self.column("label", "Recognition").values
        return labels

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of all classes, seen or not, as the dataset writes them."""
        classes: tuple[str, ...] = self.column("label", "Recognition").classes
        return classes

    @property
    def attributes(self) -> Float32[np.ndarray, "c a"]:
        """What is true of each class, and how much, as the dataset gives it."""
        attributes: np.ndarray = self.column("label", "Recognition").attributes
        return attributes

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The name of each attribute; empty where they are not known."""
        names: tuple[str, ...] = self.column("label", "Recognition").attribute_names
        return names

    @property
    def parts(self) -> Float32[np.ndarray, "n p 3"] | None:
        """Each part's x and y in sides of the picture, and 1 where it can be seen, else three zeros;
        None where nobody knows."""
        if "parts" not in self.columns:
            return None
        places: np.ndarray = self.columns["parts"].batch(range(len(self)))
        return places

    @property
    def part_names(self) -> tuple[str, ...]:
        """The name of each part; empty where there are none."""
        names: tuple[str, ...] = self.column("parts").names if "parts" in self.columns else ()
        return names
