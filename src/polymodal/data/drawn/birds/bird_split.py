"""One split of the birds: a dataset with classes, whose images are drawn when they are asked for."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt8

from polymodal.data.drawn.birds.bird_captions import captions
from polymodal.data.drawn.birds.plumage import ATTRIBUTES, GROUPS, PARTS
from polymodal.data.drawn.birds.species import one_hot, species
from polymodal.data.records import Caption, Images, Record

CHUNK = 16
"""Images that one thread paints at a time."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """Birds of some classes: a `Classed` dataset whose truth is known."""

    name: str
    size: int
    ids: tuple[str, ...] = field(repr=False)
    seeds: Int64[np.ndarray, " n"] = field(repr=False, compare=False)
    items: Int64[np.ndarray, " n"] = field(repr=False, compare=False)
    labels: Int64[np.ndarray, " n"] = field(repr=False, compare=False)
    """Each bird's class, as its place in `classes`."""
    fingerprint: str
    """A hash of what is in the split, for the protocol of a result."""

    part_names = PARTS
    attribute_names = ATTRIBUTES

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Record:
        """The image with its captions."""
        index = self._within(index)
        image = self.images([index])[0]
        return Record(id=self.ids[index], image=image, captions=self.captions(index))

    def captions(self, index: int) -> tuple[Caption, ...]:
        """The name of the bird's class, and what this one looks like."""
        index = self._within(index)
        return captions(self.classes[self.labels[index]], self.codes[index])

    def images(self, indices: Sequence[int]) -> Images:
        """A batch of images, drawn in parallel."""
        return self._paint(indices)[0]

    def masks(self, indices: Sequence[int]) -> UInt8[np.ndarray, "b h w"]:
        """The part that each pixel shows: k + 1 for part k, 0 for none."""
        return self._paint(indices)[1]

    @property
    def rule(self) -> str:
        """How its images became pixels."""
        return f"{self.size}×{self.size}: drawn at this size"

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of all classes, seen or not."""
        return species().names

    @property
    def attributes(self) -> Float32[np.ndarray, "c a"]:
        """The share of each class's birds that shows each attribute."""
        return species().attributes

    @cached_property
    def codes(self) -> Int64[np.ndarray, "n g"]:
        """The value of each group of attributes that each bird shows."""
        from polymodal.data.drawn.birds import painting

        known, codes = species(), np.empty((len(self), len(GROUPS)), np.int64)
        rows = (table[self.labels] for table in (known.usual, known.rarer, known.share))
        painting.draw_codes(self.seeds, self.items, *rows, codes)
        return codes

    @property
    def individuals(self) -> Bool[np.ndarray, "n a"]:
        """Which attributes each bird itself shows."""
        shown: np.ndarray = one_hot(self.codes, np.ones(self.codes.shape)) > 0
        return shown

    @cached_property
    def parts(self) -> Float32[np.ndarray, "n p 3"]:
        """Each part's x and y in sides of the picture, and 1 where it can be seen, else three zeros."""
        from polymodal.data.drawn.birds import painting

        found = np.zeros((len(self), len(PARTS), 3), np.float32)
        painting.find_parts(self.seeds, self.items, self.codes, found)
        return found

    def _paint(
        self, indices: Sequence[int], workers: int | None = None
    ) -> tuple[Images, UInt8[np.ndarray, "b h w"]]:
        """Images and masks, which do not depend on how many are drawn at once."""
        from polymodal.data.drawn.birds import painting
        from polymodal.data.drawn.scenes.scene_drawing import spread

        chosen = np.array([self._within(index) for index in indices], np.int64)
        images = np.empty((len(chosen), self.size, self.size, 3), np.uint8)
        masks = np.empty(images.shape[:3], np.uint8)
        seeds, items, codes = self.seeds[chosen], self.items[chosen], self.codes[chosen]

        def some(start: int) -> None:
            chunk = slice(start, start + CHUNK)
            painting.paint(seeds[chunk], items[chunk], codes[chunk], images[chunk], masks[chunk])

        spread(some, range(0, len(chosen), CHUNK), workers)
        return images, masks

    def _within(self, index: int) -> int:
        """An index in [0, len), counted from the end where it is negative."""
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"{self.name} has {len(self)} records, so there is no index {place}.")
        return place % len(self)
