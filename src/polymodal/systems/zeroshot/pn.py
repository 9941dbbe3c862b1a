"""PN: a prototypical network, features and class prototypes trained together (003, Table A.2).

An image is pulled to the prototype of its class, computed from the class's attributes, and
pushed away from those of other classes (Snell et al., 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.ranges import Positive
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Learner, Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A prototypical network."""

    scale: Positive[float] = 10.0
    """Factor on the cosines before the softmax."""


class PrototypicalNetwork(Learner):
    """The cross-entropy over the cosines with the class prototypes."""

    config: Config

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        near = self.prototypes.scores(views[0].whole, self.attributes)
        return self.cross_entropy_of_seen(self.config.scale * near, batch.labels)

    def fit(self, features: Float[Tensor, "n d"], labels: Int[Tensor, " n"]) -> None:
        """Nothing: its prototypes are trained with the features."""


def build(config: Config, learned: dict[str, Any]) -> PrototypicalNetwork:
    """The learner, given what `learn` found."""
    return PrototypicalNetwork(config, learned)
