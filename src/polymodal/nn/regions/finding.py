"""What finders of regions share: what they look at, and what they give."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, UInt8

from polymodal.base.errors import PolymodalError
from polymodal.data.image_files import BAR
from polymodal.data.records import Dataset, Images


@dataclass(frozen=True)
class Look:
    """Some pictures; where they are a dataset's, its and their places in it."""

    pictures: Images
    dataset: Dataset | None = None
    rows: Sequence[int] = ()

    def source(self, finder: str) -> Dataset:
        """The dataset, for a finder that needs more than pictures."""
        if self.dataset is None:
            raise PolymodalError(
                f"The model learned from the boxes of its data (the finder {finder!r}), which nothing "
                "finds in a new picture. Add --finder selective-search or --finder windows, or give boxes "
                "of your own, as polymodal ground does with --box."
            )
        return self.dataset


@dataclass(frozen=True)
class Found:
    """The boxes of one picture, best first where there is a best, and other numbers of each."""

    boxes: Float32[np.ndarray, "k 4"]
    extra: Float32[np.ndarray, "k e"]

    @classmethod
    def of(cls, boxes: np.ndarray) -> "Found":
        """Boxes of which nothing else is known."""
        return cls(np.asarray(boxes, np.float32), np.zeros((len(boxes), 0), np.float32))

    def moved(self, x: int, y: int) -> "Found":
        """The same in a picture of which that one begins at x, y."""
        return Found(self.boxes + np.array([x, y, x, y], np.float32), self.extra)


@runtime_checkable
class Finder(Protocol):
    """Finds boxes in pictures: at most `count` in each."""

    count: int

    def find(self, look: Look) -> list[Found]:
        """The boxes of each picture."""


class PictureFinder(ABC):
    """A finder that looks at pictures alone, each without the bars that make a square of it."""

    @abstractmethod
    def search(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[Found]:
        """The boxes of each picture; they have sizes of their own."""

    def find(self, look: Look) -> list[Found]:
        """The boxes of each picture."""
        places = [content(picture) for picture in look.pictures]
        seen = [p[y0:y1, x0:x1] for p, (x0, y0, x1, y1) in zip(look.pictures, places, strict=True)]
        return [f.moved(x, y) for f, (x, y, _, _) in zip(self.search(seen), places, strict=True)]


def content(picture: UInt8[np.ndarray, "h w 3"]) -> tuple[int, int, int, int]:
    """What of a picture lies within gray bars: x0, y0, x1, y1; all of it if it is all gray.

    >>> picture = np.full((4, 6, 3), BAR, np.uint8)
    >>> picture[1:3] = 7
    >>> content(picture)
    (0, 1, 6, 3)
    """
    shown = (picture != BAR).any(2)
    height, width = shown.shape
    rows, columns = (np.flatnonzero(shown.any(axis)) for axis in (1, 0))
    if not len(rows):
        return 0, 0, width, height
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
