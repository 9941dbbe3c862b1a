"""HeMIS: mean and variance of the modalities that are there (Havaei et al., 2016).

The abstraction layer of HeMIS at every level of a U-Net, with an encoder for each modality (as Dorent
et al., 2019, build it); modalities are dropped by its curriculum. For research: not a medical device.
"""

from dataclasses import dataclass
from typing import Any

from polymodal.systems.medical.fused import Fused
from polymodal.systems.medical.segmenter_settings import LearnFrom, Settings, learn

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A U-Net with HeMIS's fusion. Not a medical device."""

    learn_from: LearnFrom = "curriculum"


def build(config: Config, learned: dict[str, Any]) -> Fused:
    """The model, given what `learn` found."""
    return Fused(config, learned, fusion="moments")
