"""Planes brought to another size and back: bars of 0 beside what is shorter, so that nothing is stretched."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Shaped
from PIL import Image


def place_of(shape: Sequence[int], size: Sequence[int]) -> tuple[slice, slice]:
    """Where a plane of a shape lies in one of a size: in the middle, as large as it fits.

    >>> place_of((10, 20), (8, 8))
    (slice(2, 6, None), slice(0, 8, None))
    """
    times = min(whole / own for own, whole in zip(shape, size, strict=True))
    sides = [min(whole, max(1, round(own * times))) for own, whole in zip(shape, size, strict=True)]
    starts = [round((whole - side) / 2) for side, whole in zip(sides, size, strict=True)]
    row, column = (slice(start, start + side) for start, side in zip(starts, sides, strict=True))
    return row, column


def fitted(
    values: Shaped[np.ndarray, "*n h w"],
    size: Sequence[int],
    how: Image.Resampling = Image.Resampling.BICUBIC,
) -> Shaped[np.ndarray, "*n k l"]:
    """Planes in a size, their numbers of the same kind."""
    found = np.zeros((*values.shape[:-2], *size), values.dtype)
    place = place_of(values.shape[-2:], size)
    for index in np.ndindex(values.shape[:-2]):
        found[index][place] = resized(values[index], found[index][place].shape, how)
    return found


def resized(
    values: Shaped[np.ndarray, "h w"], size: Sequence[int], how: Image.Resampling
) -> Shaped[np.ndarray, "k l"]:
    """One plane stretched to a size."""
    nearest = how == Image.Resampling.NEAREST
    rows, columns = size
    exact = values if nearest and values.dtype == np.uint8 else values.astype(np.float32)
    found = np.asarray(Image.fromarray(exact).resize((columns, rows), how))
    if not nearest and values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        found = np.clip(np.rint(found), limits.min, limits.max)
    return found.astype(values.dtype)


def restored(
    values: Shaped[np.ndarray, "*n k l"], shape: Sequence[int]
) -> Shaped[np.ndarray, "*n h w"]:
    """What was told of planes that `fitted` made, for each place of theirs as they were: the nearest."""
    inner = values[(..., *place_of(shape, values.shape[-2:]))]
    rows, columns = (
        ((np.arange(own) + 0.5) * side / own).astype(np.int64)
        for own, side in zip(shape, inner.shape[-2:], strict=True)
    )
    return inner[..., rows[:, None], columns]
