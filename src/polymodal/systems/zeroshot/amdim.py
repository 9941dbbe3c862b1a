"""AMDIM: the places of one look at an image and the whole of another (Bachman et al., 2019; 003, §4.4.1).

Two looks at each image, augmented apart, are encoded; the global feature of either is to know the
local ones of the other, at two scales. Scores are products over the root of their width, as in AMDIM's
own code, kept small and clipped softly: without the root many are beyond the limit at first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import learn
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.infomax import BoundName, InfoMax, InfoMaxSettings
from polymodal.systems.zeroshot.two_looks import Looking

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(InfoMaxSettings):
    """An encoder that learns by Augmented Multiscale Deep InfoMax."""

    bound: BoundName = "infonce"
    """What is made large; AMDIM's own is InfoNCE."""
    looks: Literal["amdim", "window"] = "amdim"
    """What is seen of a picture in training: AMDIM's own augmentations, or windows as other learners
    have them, which is all that the thesis speaks of (A.2)."""
    scales: Literal["local", "local-and-last"] = "local-and-last"
    """Which places a global feature is to know: those of the local and the last maps, or of the local ones
    alone."""
    limit: float = 10.0
    """What scores are clipped to, softly; 0 for no limit."""
    penalty: float = 5e-2
    """Weight of the mean squared score before it is clipped."""


class AugmentedMultiscale(Looking, InfoMax):
    """Minus the bounds between two looks, both ways round, at each scale."""

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        if config.looks == "window":
            self.looks = None

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        one, other = views
        return -0.5 * (self.shared(one, other) + self.shared(other, one))


def build(config: Config, learned: dict[str, Any]) -> AugmentedMultiscale:
    """The learner, given what `learn` found."""
    return AugmentedMultiscale(config, learned)
