"""Vectors that an encoder computed: as they are kept, with the moments of those of the training split."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Stored


@dataclass(frozen=True, eq=False)
class Measured(Stored):
    """One or several vectors an image, their moments known where there is a training split."""

    statistics: Float32[np.ndarray, "2 d"] | None = field(default=None, repr=False, kw_only=True)

    def batch(self, rows: Sequence[int]) -> Float32[np.ndarray, "b *r d"]:
        """The vectors of some images, as they were computed."""
        return super().batch(rows).astype(np.float32, copy=False)

    @property
    def dim(self) -> int:
        """The width of a vector."""
        return int(self.values.shape[-1])

    @property
    def mean(self) -> Float32[np.ndarray, " d"]:
        """The mean vector of the training split."""
        return self._moments()[0]

    @property
    def std(self) -> Float32[np.ndarray, " d"]:
        """Each feature's deviation over the training split; 1 where it never varies."""
        return self._moments()[1]

    def _moments(self) -> Float32[np.ndarray, "2 d"]:
        if self.statistics is None:
            raise PolymodalError(
                "These features have no training split, so no mean and deviation are known. "
                "Compute them again with the train split among them."
            )
        return self.statistics


def moments(blocks: Callable[[], Iterable[Float[np.ndarray, "m d"]]]) -> Float32[np.ndarray, "2 d"]:
    """Mean and deviation of each column, in two passes of float64.

    Args:
        blocks: gives all rows, some at a time, whenever it is called.
    """
    count = sum(map(len, blocks()))
    if not count:
        raise PolymodalError("There is no row of features, so they have no mean and deviation.")
    mean = sum(np.asarray(block, np.float64).sum(0) for block in blocks()) / count
    variance = sum(np.square(np.asarray(b, np.float64) - mean).sum(0) for b in blocks()) / count
    std = np.sqrt(variance)
    return np.stack([mean, np.where(std > 1e-6, std, 1.0)]).astype(np.float32)


def kept_type(name: str) -> np.dtype[Any]:
    """The type that vectors are kept in, by its name."""
    if name not in ("float16", "float32"):
        raise PolymodalError(f"Features are float16 or float32, not {name!r}.")
    return np.dtype(name)


def as_kept(
    values: Float[np.ndarray, "b ..."], kind: np.dtype[Any], images: range, split: str
) -> Float[np.ndarray, "b ..."]:
    """Vectors of some images of a split in the type that they are kept in, if they are finite in it."""
    with np.errstate(over="ignore"):
        rows = values.astype(kind)
    bad = np.flatnonzero(~np.isfinite(rows).reshape(len(rows), -1).all(1))
    if len(bad):
        raise PolymodalError(
            f"The features of image {images[int(bad[0])]} of {split} are not finite in {kind.name}. "
            "Check the encoder, or keep the features as float32."
        )
    return rows
