"""AMDIM: Deep InfoMax between two augmented views of an image (Bachman et al., 2019; 003, §4.4.1).

The global feature of each view is matched with the local features of the other, at two scales.
Scores are dot products over the square root of their width, as in AMDIM's own code, with a
penalty and a soft limit. Without the square root many scores start beyond the limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jaxtyping import Float
from torch import Tensor

from polymodal.base.config import renamed
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import learn
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.infomax import BoundName, InfoMax, InfoMaxSettings
from polymodal.systems.zeroshot.two_views import TwoViews

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(InfoMaxSettings):
    """An encoder that learns by Augmented Multiscale Deep InfoMax."""

    bound: BoundName = "infonce"
    """Bound on the mutual information to maximise; AMDIM's own is InfoNCE."""
    augmentation: Literal["amdim", "window"] = field(default="amdim", metadata=renamed("looks"))
    """Augmentation of the views: AMDIM's own, or random crops as in the other systems, the only one
    that the thesis mentions (A.2)."""
    scales: Literal["local", "local-and-last"] = "local-and-last"
    """Local features that the global one is matched with: the local maps, or the last maps too."""
    limit: float = 10.0
    """Soft clipping of the scores to ± this value; 0 for none."""
    penalty: float = 5e-2
    """Weight of the mean squared score before clipping."""


class AugmentedMultiscale(TwoViews, InfoMax):
    """Minus the bounds between two views, in both directions, at each scale."""

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        if config.augmentation == "window":
            self.augment = None

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        one, other = views
        return -0.5 * (self.information(one, other) + self.information(other, one))


def build(config: Config, learned: dict[str, Any]) -> AugmentedMultiscale:
    """The learner, given what `learn` found."""
    return AugmentedMultiscale(config, learned)
