"""Segmentation with an encoder for each modality and one decoder for any subset of them."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.nn import modality_fusion
from polymodal.nn.named_unets import halves
from polymodal.nn.unet import cropped, divisible, widths_of
from polymodal.systems.medical.scan_model import Scans
from polymodal.systems.medical.segmenter import Segmenter
from polymodal.systems.medical.segmenter_settings import Settings


@dataclass(frozen=True)
class Levels:
    """The maps of each level of all modalities, and the grid of the scans."""

    maps: list[Float[Tensor, "b n _ ..."]]
    grid: tuple[int, ...]


class Fused(Segmenter):
    """U-Net encoders whose maps are joined at every level, for one decoder that all share."""

    def __init__(self, config: Settings, learned: dict[str, Any], fusion: str = "mean") -> None:
        super().__init__(config, learned)
        self.fuse, times = modality_fusion.named(fusion)
        down, up = halves(config.unet)
        self.widths = widths_of(config.width, config.levels)
        self.encoders = nn.ModuleDict(
            {
                name: down(dims=self.dims, inputs=learned["channels"][name], widths=self.widths)
                for name in self.names
            }
        )
        self.decoder = up(
            dims=self.dims,
            inputs=[times * width for width in self.widths],
            widths=self.widths,
            outputs=1 + len(self.classes),
        )

    def encode(self, scans: Scans) -> Levels:
        found = [
            encoder(divisible(scan, len(self.widths)))
            for encoder, scan in zip(self.encoders.values(), scans, strict=True)
        ]
        maps = [torch.stack(level, 1) for level in zip(*found, strict=True)]
        return Levels(maps, tuple(scans[0].shape[2:]))

    def decode(self, encoded: Levels, chosen: Bool[Tensor, "s b n"]) -> Tensor:
        joined = [self.fuse(level, chosen).flatten(0, 1) for level in encoded.maps]
        return cropped(self.decoder(joined), encoded.grid)
