"""Crops: a classifier of real objects, which says whether made ones can be recognised (CA; 003, §6.4).

It also sees for measures: its features know drawn scenes, which ImageNet's do not. CAS is the other way
round, a classifier of made crops that is tested on real ones: see `crop_learning`.
"""

from dataclasses import dataclass
from typing import Any

from polymodal.base.ranges import Eights, Positive, check_ranges
from polymodal.data.records import Dataset
from polymodal.systems.layout.crop_classifier import CropClassifier
from polymodal.systems.layout.layout_settings import LayoutSettings, learn_layouts

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(LayoutSettings):
    """A classifier of crops; the paper gives nothing but that it is a ResNet, so all of it is ours."""

    width: Eights = 32
    """Maps at the full size of 32 × 32."""
    dim: Positive[int] = 256
    """Width of the layer before the classes."""
    flip: bool = True
    """Mirror crops half the time."""
    lr: Positive[float] = 1e-3
    """Learning rate of Adam; it decays to 0 along a cosine."""

    def __post_init__(self) -> None:
        check_ranges(self)


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The classes, and the size of the pictures."""
    return learn_layouts(config, train)


def build(config: Config, learned: dict[str, Any]) -> CropClassifier:
    """The classifier of the classes that `learn` found."""
    return CropClassifier(config, learned)
