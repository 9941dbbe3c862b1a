"""One split of the birds: a dataset with classes, whose images are drawn when they are asked for."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt8

from polymodal.data.columns import Captions, Column, Labels, Parts, Read
from polymodal.data.drawn.birds.bird_captions import captions
from polymodal.data.drawn.birds.plumage import ATTRIBUTES, GROUPS, PARTS
from polymodal.data.drawn.birds.species import one_hot, species
from polymodal.data.records import Caption, Dataset, Images

CHUNK = 16
"""Images that one thread paints at a time."""


class Split(Dataset):
    """Birds of some classes, whose truth is known."""

    def __init__(
        self,
        *,
        name: str,
        size: int,
        ids: tuple[str, ...],
        seeds: Int64[np.ndarray, " n"],
        items: Int64[np.ndarray, " n"],
        labels: Int64[np.ndarray, " n"],
        fingerprint: str,
    ) -> None:
        self.name, self.size, self.seeds, self.items = name, size, seeds, items
        n, known = len(items), species()
        columns: dict[str, Column] = {
            "image": Read(n, self._draw),
            "captions": Captions(n, self._said),
            "label": Labels(
                labels,
                classes=known.names,
                attributes=known.attributes,  # the share of each class's birds that shows each
                attribute_names=ATTRIBUTES,
            ),
            "parts": Parts(n, self._there, names=PARTS),
            "mask": Read(n, self.masks),
        }
        rule = f"{size}×{size}: drawn at this size"
        super().__init__(columns, ids=ids, fingerprint=fingerprint, rule=rule)

    def _said(self, index: int) -> tuple[Caption, ...]:
        """The name of the bird's class, and what this one looks like."""
        return captions(self.classes[self.labels[index]], self.codes[index])

    def _draw(self, indices: Sequence[int]) -> Images:
        """A batch of images, drawn in parallel."""
        return self._paint(indices)[0]

    def masks(self, indices: Sequence[int]) -> UInt8[np.ndarray, "b h w"]:
        """The part that each pixel shows: k + 1 for part k, 0 for none."""
        return self._paint(indices)[1]

    def _there(self, rows: Sequence[int]) -> Float32[np.ndarray, "b p 3"]:
        """Where some birds have their parts."""
        places: np.ndarray = self._places[np.asarray(rows, np.int64)]
        return places

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
    def _places(self) -> Float32[np.ndarray, "n p 3"]:
        """Each part's x and y in sides of the picture, and 1 where it can be seen, else three zeros."""
        from polymodal.data.drawn.birds import painting

        places = np.zeros((len(self), len(PARTS), 3), np.float32)
        painting.find_parts(self.seeds, self.items, self.codes, places)
        return places

    def _paint(
        self, indices: Sequence[int], workers: int | None = None
    ) -> tuple[Images, UInt8[np.ndarray, "b h w"]]:
        """Images and masks, which do not depend on how many are drawn at once."""
        from polymodal.data.drawn.birds import painting
        from polymodal.data.drawn.kernel.compiling import spread

        chosen = np.array([self.within(index) for index in indices], np.int64)
        images = np.empty((len(chosen), self.size, self.size, 3), np.uint8)
        masks = np.empty(images.shape[:3], np.uint8)
        seeds, items, codes = self.seeds[chosen], self.items[chosen], self.codes[chosen]

        def some(start: int) -> None:
            chunk = slice(start, start + CHUNK)
            painting.paint(seeds[chunk], items[chunk], codes[chunk], images[chunk], masks[chunk])

        spread(some, range(0, len(chosen), CHUNK), workers)
        return images, masks
