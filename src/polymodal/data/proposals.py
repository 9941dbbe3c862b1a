"""Boxes of each image where something may be, found without its captions, and a vector of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32

from polymodal.data.columns import Stored
from polymodal.data.encoder_vectors import Measured, moments
from polymodal.data.records import Dataset

BLOCK = 64
"""Images whose vectors are looked at together."""


@dataclass(frozen=True, eq=False)
class RegionFeatures(Measured):
    """Each proposal of each image as a vector: the column 'proposal_features', n × r × d.

    The vector of an empty box is zero; mean and deviation are those of all others.
    """

    encoder: Mapping[str, Any] = field(kw_only=True)
    """How boxes and vectors were made, as JSON: enough to make those of a new picture."""


def there(boxes: Float[np.ndarray, "*b 4"]) -> Bool[np.ndarray, "*b"]:
    """Which boxes are proposals; the others, with no area, fill up the rows of an image.

    >>> there(np.array([[0.0, 0, 2, 1], [0, 0, 0, 0]])).tolist()
    [True, False]
    """
    return np.asarray((boxes[..., 2:] > boxes[..., :2]).all(-1))


def region_moments(
    boxes: Float32[np.ndarray, "n r 4"], features: Float[np.ndarray, "n r d"]
) -> Float32[np.ndarray, "2 d"]:
    """Mean and deviation of each feature over all proposals."""

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, len(boxes), BLOCK):
            some = slice(start, start + BLOCK)
            yield np.asarray(features[some][there(boxes[some])], np.float64)

    return moments(blocks)


def joined(
    dataset: Dataset, boxes: Float32[np.ndarray, "n r 4"], features: RegionFeatures
) -> Dataset:
    """The same dataset with columns of proposals and their vectors; its hash is still its own."""
    return Dataset(
        {**dataset.columns, "proposals": Stored(boxes), "proposal_features": features},
        ids=dataset.ids,
        fingerprint=dataset.fingerprint,
        rule=dataset.rule,
    )
