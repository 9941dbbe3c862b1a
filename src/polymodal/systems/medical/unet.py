"""One U-Net of all modalities as channels; what is missing is filled in (003, §8.4.4).

With one modality it is the one-modality baseline, with all the ceiling; with fillings it is the
baseline Mean or MLP of Havaei et al. (2016). For research: not a medical device.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.nn.named_unets import halves
from polymodal.nn.unet import cropped, divisible, widths_of
from polymodal.systems.medical.scan_model import Scans
from polymodal.systems.medical.segmenter import Segmenter
from polymodal.systems.medical.segmenter_settings import LearnFrom, Settings, learn
from polymodal.systems.medical.training_subsets import some_of

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A U-Net of all modalities together. Not a medical device."""

    learn_from: LearnFrom = "all"
    select: Literal["alone", "mean", "all"] = "all"
    fill: Literal["mean", "mlp"] = "mean"
    """What stands in place of a missing modality: its mean over the training items, or what a perceptron
    makes of the others, place by place."""


class Filler(nn.Module):
    """Each modality from those that are there, place by place: two hidden layers of 100, as HeMIS's
    baseline; one network that is told what is there, in place of one for each subset."""

    def __init__(self, channels: list[int], hidden: int = 100) -> None:
        super().__init__()
        self.channels = channels
        self.layers = nn.Sequential(
            nn.Linear(sum(channels) + len(channels), hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, sum(channels)),
        )

    def forward(self, scans: Scans, there: Bool[Tensor, "b n"]) -> Scans:
        """What it takes each modality for."""
        seen = [scan * shaped(own, scan) for scan, own in zip(scans, there.unbind(1), strict=True)]
        flags = [
            shaped(own, scan).expand_as(scan[:, :1])
            for scan, own in zip(scans, there.unbind(1), strict=True)
        ]
        made = self.layers(torch.cat([*seen, *flags], 1).movedim(1, -1)).movedim(-1, 1)
        return list(made.split(self.channels, 1))

    def loss(self, scans: Scans, there: Bool[Tensor, "b n"]) -> Float[Tensor, ""]:
        """The squared error of modalities that are there, when some of them are hidden."""
        lost = torch.randint(1, max(2, there.shape[1]), there.shape[:1], device=there.device)
        left = some_of(there, lost)
        made = self([scan.detach() for scan in scans], left)
        hidden = (there & ~left).unbind(1)
        errors = [
            ((own - scan).square().flatten(1).mean(1) * mark).sum()
            for own, scan, mark in zip(made, scans, hidden, strict=True)
        ]
        return torch.stack(errors).sum() / torch.stack(hidden).sum().clamp(min=1)


def shaped(flags: Bool[Tensor, " b"], scan: Float[Tensor, "b c *grid"]) -> Tensor:
    """A flag of each item as a number beside its scan."""
    return flags.to(scan.dtype).view(-1, *[1] * (scan.ndim - 1))


class UNet(Segmenter):
    """Early fusion: every modality is some channels of one input."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        channels = [learned["channels"][name] for name in self.names]
        down, up = halves(config.unet)
        self.widths = widths_of(config.width, config.levels)
        self.encoder = down(dims=self.dims, inputs=sum(channels), widths=self.widths)
        self.decoder = up(
            dims=self.dims,
            inputs=self.widths,
            widths=self.widths,
            outputs=1 + len(self.classes),
        )
        self.filler = Filler(channels) if config.fill == "mlp" else None

    def encode(self, scans: Scans) -> Scans:
        return scans

    def decode(self, encoded: Scans, chosen: Bool[Tensor, "s b n"]) -> Tensor:
        filled = torch.cat([torch.cat(self.filled(encoded, own), 1) for own in chosen])
        grid = encoded[0].shape[2:]
        return cropped(self.decoder(self.encoder(divisible(filled, len(self.widths)))), grid)

    def filled(self, scans: Scans, there: Bool[Tensor, "b n"]) -> Scans:
        """The scans that are there, and what stands in place of the others: 0, which is the mean of
        standardised scans, or what the perceptron says."""
        made = [torch.zeros_like(scan) for scan in scans]
        if self.filler is not None:
            with torch.no_grad():  # it learns from scans alone, as the baseline's does
                made = self.filler(scans, there)
        return [
            torch.where(shaped(own, scan) > 0, scan, other)
            for scan, other, own in zip(scans, made, there.unbind(1), strict=True)
        ]

    def beside(
        self, encoded: Scans, scans: Scans, there: Bool[Tensor, "b n"], whole: bool
    ) -> Float[Tensor, ""] | float:
        """The perceptron's own loss, where there is one."""
        return self.filler.loss(scans, there) if self.filler is not None else 0.0


def build(config: Config, learned: dict[str, Any]) -> UNet:
    """The model, given what `learn` found."""
    return UNet(config, learned)
