"""CMDIM: Deep InfoMax whose positives are other images of the same class (003, A.7).

The global feature of an image is matched with the local features of another image of its class
with probability p, else with its own, as in DIM. Images of other classes are the negatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.config import renamed
from polymodal.base.ranges import Range
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import learn
from polymodal.systems.zeroshot.class_examples import ClassBatch, PartnerBatch
from polymodal.systems.zeroshot.infomax import InfoMax, InfoMaxSettings

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(InfoMaxSettings):
    """An encoder that learns by class-matching Deep InfoMax."""

    p: Annotated[float, Range("is a probability, from 0 to 1", lambda n: 0 <= n <= 1)] = 1.0
    """Probability that the positive is another image of the class; 0 to 1."""
    self_positive: Literal["features", "look"] = field(
        default="features", metadata=renamed("itself")
    )
    """If the positive is the image itself: its own local features (as in DIM), or those of another
    augmented view. The thesis says 'the same input' (A.7)."""


class ClassMatching(InfoMax):
    """Minus the bound between an image and its partner, in both directions."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.partners = config.p

    def views(self, batch: PartnerBatch) -> Sequence[Features]:  # type: ignore[override]
        """Each image and its partner."""
        return [self.see(batch.images), self.see(batch.others)]

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        one, other = views
        if self.config.self_positive == "features":
            other = self.own_features(one, other, batch)  # type: ignore[arg-type]
        apart = batch.labels[:, None] != batch.labels
        return -0.5 * (self.information(one, other, apart) + self.information(other, one, apart))

    def own_features(self, one: Features, other: Features, batch: PartnerBatch) -> Features:
        """The features of the partners; an image that is its own partner gets its own features."""
        mask = batch.own

        def chosen(ours: Tensor, theirs: Tensor) -> Tensor:
            return torch.where(mask.view(-1, *[1] * (ours.ndim - 1)), ours, theirs)

        return replace(
            other,
            whole=chosen(one.whole, other.whole),
            local=chosen(one.local, other.local),
            last=chosen(one.last, other.last),
        )


def build(config: Config, learned: dict[str, Any]) -> ClassMatching:
    """The learner, given what `learn` found."""
    return ClassMatching(config, learned)
