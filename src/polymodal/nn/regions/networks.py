"""Encoders of regions by a network: of each crop, or pooled from the maps of whole pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8
from torch import Tensor

from polymodal.data.records import Images
from polymodal.nn.feature_maps import maps_of
from polymodal.nn.image_encoders import width
from polymodal.nn.named_encoders import extractor
from polymodal.nn.regions.crops import crops, grown
from polymodal.nn.roi_align import roi_align

PIXELS = {"cpu": 2**18, "cuda": 2**22}
"""Pixels that a network sees at once. On a processor more are up to three times slower: layers whose
output is larger than what it keeps at hand take their memory anew each time."""

POINTS = 7
"""Points of a side at which the maps of a box are read; their mean is its vector."""


class CropNetwork:
    """The output of a named encoder for each crop."""

    def __init__(self, name: str, size: int, context: float, device: torch.device) -> None:
        self.network, self.device = extractor(name, size).to(device), device
        self.size, self.context = size, context

    def prepare(
        self, pictures: Images, boxes: list[Float32[np.ndarray, "_ 4"]]
    ) -> UInt8[np.ndarray, "m size size 3"]:
        """Cut the crops."""
        return crops(pictures, boxes, self.size, self.context)

    @torch.inference_mode()
    def encode(self, prepared: UInt8[np.ndarray, "m size size 3"]) -> Float[np.ndarray, "m d"]:
        """Crops as vectors."""
        found = [np.zeros((0, width(self.network)), np.float32)]
        for some in in_parts(prepared, self.device):
            found.append(self.network(some).cpu().numpy())
        return np.concatenate(found)


@dataclass(frozen=True)
class Whole:
    """Whole pictures, and the boxes of each in their sides."""

    pictures: UInt8[np.ndarray, "b size size 3"]
    boxes: list[Float32[np.ndarray, "_ 4"]]


class MapNetwork:
    """The mean of a named encoder's last maps over each box, by RoI-align."""

    def __init__(self, name: str, size: int, context: float, device: torch.device) -> None:
        encoder: Any = extractor(name, size).to(device).encoder
        self.maps, self.device = maps_of(encoder[0], size), device
        self.size, self.context = size, context

    def prepare(self, pictures: Images, boxes: list[Float32[np.ndarray, "_ 4"]]) -> Whole:
        """Resize the pictures."""
        _, height, wide, _ = pictures.shape
        sides = np.array([wide, height, wide, height], np.float32)
        everything = np.array([[0, 0, wide, height]], np.float32)
        whole = crops(pictures, [everything] * len(pictures), self.size)
        return Whole(whole, [grown(some / sides, self.context) for some in boxes])

    @torch.inference_mode()
    def encode(self, prepared: Whole) -> Float[np.ndarray, "m d"]:
        """Boxes as vectors."""
        parts = in_parts(prepared.pictures, self.device)
        maps = (one[None] for some in parts for one in self.maps(some))
        found = []
        for one, boxes in zip(maps, prepared.boxes, strict=True):
            some = torch.from_numpy(boxes).to(one)[None]
            found.append(roi_align(one, some, 1, POINTS)[0, :, :, 0, 0].cpu().numpy())
        return np.concatenate(found)


def in_parts(
    pictures: UInt8[np.ndarray, "b h w 3"], device: torch.device
) -> Iterator[UInt8[Tensor, "_ 3 h w"]]:
    """Pictures on a device, channels first, as many at once as it does best with."""
    _, height, width, _ = pictures.shape
    most = max(1, PIXELS.get(device.type, PIXELS["cuda"]) // (height * width))
    for start in range(0, len(pictures), most):
        some = torch.from_numpy(pictures[start : start + most])
        yield some.to(device).permute(0, 3, 1, 2)
