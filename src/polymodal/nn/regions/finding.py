"""What finders of regions share: what they look at, and what they give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from polymodal.base.errors import PolymodalError
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
                f"The finder {finder!r} knows the boxes of its own data alone, not of new pictures. "
                "Give their boxes, or use features that another finder made, such as windows."
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


@runtime_checkable
class Finder(Protocol):
    """Finds boxes in pictures: at most `count` in each."""

    count: int

    def find(self, look: Look) -> list[Found]:
        """The boxes of each picture."""
