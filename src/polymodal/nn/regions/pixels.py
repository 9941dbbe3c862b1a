"""The encoder `pixels`: a region is its crop of a few pixels. It has no weights and needs none."""

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8

from polymodal.data.records import Images
from polymodal.nn.regions.crops import crops


class Pixels:
    """Crops of `size` × `size` pixels as they are, from 0 to 1: 3 · size² numbers a region."""

    def __init__(self, size: int, context: float) -> None:
        self.size, self.context = size, context

    def prepare(
        self, pictures: Images, boxes: list[Float32[np.ndarray, "k 4"]]
    ) -> UInt8[np.ndarray, "m size size 3"]:
        """Cut the crops."""
        return crops(pictures, boxes, self.size, self.context)

    def encode(
        self, prepared: UInt8[np.ndarray, "m size size 3"], device: torch.device
    ) -> Float[np.ndarray, "m d"]:
        """Crops as vectors; nothing that a device would help with."""
        return prepared.reshape(len(prepared), -1).astype(np.float32) / 255
