"""VICReg: two views agree; features have variance and are decorrelated (Bardes et al., 2022).

A reference newer than the thesis: no critic and no negatives. Two terms prevent collapse: the
standard deviation of each dimension over a batch should be 1, and dimensions should not covary.
The views use AMDIM's augmentations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import mse_loss, relu

from polymodal.base.ranges import OneOrMore, ZeroOrMore
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.two_views import TwoViews

__all__ = ["Config", "build", "learn"]

TINY = 1e-4
"""Added to a variance before the square root."""


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """An encoder that learns by variance, invariance and covariance."""

    expander: OneOrMore[int] = 2048
    """Width of the expander's three layers; the paper has 8192, for larger features."""
    invariance: ZeroOrMore[float] = 25.0
    """Weight of the squared difference of the two views."""
    variance: ZeroOrMore[float] = 25.0
    """Weight of the hinge that keeps standard deviations at 1."""
    covariance: ZeroOrMore[float] = 1.0
    """Weight of the squared covariances."""


class Regularised(TwoViews):
    """The three terms for two views, after a shared expander."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        wide = config.expander
        self.expander = nn.Sequential(
            nn.Linear(config.dim, wide), nn.BatchNorm1d(wide), nn.ReLU(),
            nn.Linear(wide, wide), nn.BatchNorm1d(wide), nn.ReLU(),
            nn.Linear(wide, wide, bias=False),
        )  # fmt: skip

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        first, second = (self.expander(view.whole).float() for view in views)
        return (
            self.config.invariance * mse_loss(first, second)
            + self.config.variance * (variance_hinge(first) + variance_hinge(second))
            + self.config.covariance * (covariance_penalty(first) + covariance_penalty(second))
        )


def variance_hinge(z: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    """The mean shortfall of the standard deviations below 1 (Bardes et al., 2022, eq. 1)."""
    return relu(1 - (z.var(0) + TINY).sqrt()).mean()


def covariance_penalty(z: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    """The squared covariances between dimensions, summed and divided by their number (Bardes et
    al., 2022, eq. 4)."""
    apart = z - z.mean(0)
    covariances = (apart.T @ apart).float() / (len(z) - 1)
    return 2 * covariances.tril(-1).square().sum() / z.shape[1]


def build(config: Config, learned: dict[str, Any]) -> Regularised:
    """The learner, given what `learn` found."""
    return Regularised(config, learned)
