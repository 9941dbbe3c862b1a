"""DIM: Deep InfoMax between global and local features (Hjelm et al., 2019; 003, A.7).

It maximises a bound on their mutual information. A critic distinguishes local features of the
same image from those of other images.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import learn
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.infomax import InfoMax, InfoMaxSettings

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(InfoMaxSettings):
    """An encoder that learns by Deep InfoMax."""


class DeepInfoMax(InfoMax):
    """Minus the bound, for the global and local features of one crop of each image."""

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        return -self.information(views[0], views[0])


def build(config: Config, learned: dict[str, Any]) -> DeepInfoMax:
    """The learner, given what `learn` found."""
    return DeepInfoMax(config, learned)
