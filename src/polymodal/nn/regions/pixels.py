"""Encoders of regions without a network: `pixels`, a crop of a few pixels; `none`, nothing."""

import numpy as np
from jaxtyping import Float, Float32, UInt8

from polymodal.data.records import Images
from polymodal.nn.regions.crops import crops


class Pixels:
    """Crops of `size` × `size` pixels as they are, from 0 to 1: 3 · size² numbers a region."""

    def __init__(self, size: int, context: float) -> None:
        self.size, self.context = size, context

    def prepare(
        self, pictures: Images, boxes: list[Float32[np.ndarray, "_ 4"]]
    ) -> UInt8[np.ndarray, "m size size 3"]:
        """Cut the crops."""
        return crops(pictures, boxes, self.size, self.context)

    def encode(self, prepared: UInt8[np.ndarray, "m size size 3"]) -> Float[np.ndarray, "m d"]:
        """Crops as vectors."""
        return prepared.reshape(len(prepared), -1).astype(np.float32) / 255


class Nothing:
    """No features but those that the finder gives, or the geometry."""

    def prepare(self, pictures: Images, boxes: list[Float32[np.ndarray, "_ 4"]]) -> int:
        """Count the boxes."""
        return sum(map(len, boxes))

    def encode(self, prepared: int) -> Float[np.ndarray, "m 0"]:
        """Vectors of no numbers."""
        return np.zeros((prepared, 0), np.float32)
