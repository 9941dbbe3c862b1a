"""FC: an encoder trained with labels and a linear classifier (003, §4.4.1).

The fully supervised baseline of the thesis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Learner, Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """An encoder trained with labels."""


class FullySupervised(Learner):
    """The cross-entropy of the labels."""

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.labels = nn.Sequential(
            nn.Dropout(config.dropout), nn.Linear(config.dim, learned["classes"])
        )

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        return self.cross_entropy_of_seen(self.labels(views[0].whole), batch.labels)


def build(config: Config, learned: dict[str, Any]) -> FullySupervised:
    """The learner, given what `learn` found."""
    return FullySupervised(config, learned)
