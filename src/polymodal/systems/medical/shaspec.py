"""ShaSpec: features that modalities share and features of each alone (Wang et al., CVPR 2023).

A newer baseline than the thesis's. In place of a missing modality stands the mean of the shared
features of those that are there. For research: not a medical device.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Weight
from polymodal.data.records import Dataset
from polymodal.nn.modality_fusion import mean
from polymodal.nn.named_unets import halves
from polymodal.nn.unet import convolution, cropped, divisible, widths_of
from polymodal.systems.medical.scan_model import Scans
from polymodal.systems.medical.segmenter import Segmenter
from polymodal.systems.medical.segmenter_settings import LearnFrom, Settings
from polymodal.systems.medical.segmenter_settings import learn as learn_scans

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A shared encoder and one of each modality. Not a medical device."""

    learn_from: LearnFrom = "random"
    align_weight: Weight[float] = 0.1
    """Weight α of the distance between the shared features of an item's modalities."""
    classify_weight: Weight[float] = 0.02
    """Weight β of telling the modality from its specific features."""


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """What every segmentation learns; one encoder reads all modalities, so all have as many channels."""
    found = learn_scans(config, train)
    channels = found["channels"]
    if len(set(channels.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in channels.items())
        raise PolymodalError(
            f"ShaSpec reads all modalities by one encoder, but their channels differ: {told}. Name "
            "those that have as many: --modalities."
        )
    return found


@dataclass(frozen=True)
class SharedAndSpecific:
    """The maps of each level, and the grid of the scans."""

    shared: list[Float[Tensor, "b n _ ..."]]
    specific: list[Float[Tensor, "b n _ ..."]]
    joined: list[Float[Tensor, "b n _ ..."]]
    """Shared and specific maps of each modality as one."""
    grid: tuple[int, ...]


class ShaSpec(Segmenter):
    """L_seg + α L_dao + β L_dco."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        down, up = halves(config.unet)
        self.widths = widths_of(config.width, config.levels)
        n, channels = len(self.names), learned["channels"][self.names[0]]

        def encoder() -> nn.Module:
            return down(dims=self.dims, inputs=channels, widths=self.widths)

        self.shared = encoder()
        self.specific = nn.ModuleDict({name: encoder() for name in self.names})
        conv = convolution(self.dims)
        self.project = nn.ModuleList(conv(2 * width, width, 1) for width in self.widths)
        self.modality = nn.Linear(self.widths[-1], n)
        self.decoder = up(
            dims=self.dims,
            inputs=[n * width for width in self.widths],
            widths=self.widths,
            outputs=1 + len(self.classes),
        )

    def encode(self, scans: Scans) -> SharedAndSpecific:
        wide = [divisible(scan, len(self.widths)) for scan in scans]
        n, b = len(wide), len(wide[0])
        together = self.shared(torch.cat(wide))  # of all modalities at once
        shared = [level.unflatten(0, (n, b)).transpose(0, 1) for level in together]
        each = [own(scan) for own, scan in zip(self.specific.values(), wide, strict=True)]
        specific = [torch.stack(level, 1) for level in zip(*each, strict=True)]
        joined = []
        for project, one, other in zip(self.project, shared, specific, strict=True):
            made = project(torch.cat([one, other], 2).flatten(0, 1))
            joined.append(made.unflatten(0, (b, n)) + one)
        return SharedAndSpecific(shared, specific, joined, tuple(scans[0].shape[2:]))

    def decode(self, encoded: SharedAndSpecific, chosen: Bool[Tensor, "s b n"]) -> Tensor:
        maps = []
        for joined, shared in zip(encoded.joined, encoded.shared, strict=True):
            there = chosen[(..., *[None] * (joined.ndim - 2))]
            instead = mean(shared, chosen)[:, :, None]
            maps.append(torch.where(there, joined, instead).flatten(0, 1).flatten(1, 2))
        return cropped(self.decoder(maps), encoded.grid)

    def beside(
        self, encoded: SharedAndSpecific, scans: Scans, there: Bool[Tensor, "b n"], whole: bool
    ) -> Float[Tensor, ""] | float:
        """α L_dao + β L_dco, on the coarsest maps, meaned over their places."""
        shared = encoded.shared[-1].flatten(3).mean(3)
        specific = encoded.specific[-1].flatten(3).mean(3)
        return self.config.align_weight * self.apart(
            shared, there
        ) + self.config.classify_weight * self.mistaken(specific, there)

    def apart(
        self, shared: Float[Tensor, "b n c"], there: Bool[Tensor, "b n"]
    ) -> Float[Tensor, ""]:
        """The mean L1 distance between the shared features of modalities that an item has both."""
        total, count = shared.new_zeros(()), shared.new_zeros(())
        for one, other in combinations(range(len(self.names)), 2):
            both = there[:, one] & there[:, other]
            away = (shared[:, one] - shared[:, other]).abs().mean(1)
            total, count = total + (away * both).sum(), count + both.sum()
        return total / count.clamp(min=1)

    def mistaken(
        self, specific: Float[Tensor, "b n c"], there: Bool[Tensor, "b n"]
    ) -> Float[Tensor, ""]:
        """The cross-entropy of which modality specific features are of."""
        names = torch.arange(len(self.names), device=specific.device).expand(len(specific), -1)
        logits = self.modality(specific).float().flatten(0, 1)
        each = cross_entropy(logits, names.flatten(), reduction="none")
        return (each * there.flatten()).sum() / there.sum().clamp(min=1)


def build(config: Config, learned: dict[str, Any]) -> ShaSpec:
    """The model, given what `learn` found."""
    return ShaSpec(config, learned)
