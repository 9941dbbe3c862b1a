"""AAE: an adversarial auto-encoder, whose code should follow N(0, I) (003, §4.4.1).

A critic learns to distinguish codes from samples of N(0, I). The encoder learns to deceive the
critic (Makhzani et al., 2015).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from polymodal.base.config import renamed
from polymodal.base.ranges import Positive, ZeroOrMore
from polymodal.nn.dcgan import Drawer
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Learner, Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """An adversarial auto-encoder; the thesis gives neither code nor weights: all are ours."""

    code: Positive[int] = 128
    """Dimension of the code."""
    hidden: Positive[int] = 512
    """Width of the critic's two layers."""
    adversarial_weight: ZeroOrMore[float] = field(default=0.01, metadata=renamed("adversity"))
    """Weight of the adversarial loss, relative to the squared error of one pixel value. In a small
    trial on CUB, 0.1 moved the codes away from N(0, I)."""
    std: Positive[float] = 0.5
    """Standard deviation of a pixel in the likelihood, with images scaled to [−1, 1]."""


class AdversarialAutoEncoder(Learner):
    """The reconstruction error plus the adversarial loss."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.code = nn.Linear(config.dim, config.code)
        self.drawer = Drawer(code=config.code, size=self.encoder.size, slim=config.slim)
        wide = config.hidden
        self.critic = nn.Sequential(
            nn.Linear(config.code, wide), nn.LeakyReLU(0.2),
            nn.Linear(wide, wide), nn.LeakyReLU(0.2), nn.Linear(wide, 1),
        )  # fmt: skip

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        (features,) = views
        code = self.code(features.whole).float()
        error = self.drawer.error(code, features.seen, self.config.std).mean()
        error = error / features.seen[0].numel()
        # the gradient that reaches the code is reversed, so one optimiser step serves both players
        reversed_code = GradientReversal.apply(code, self.config.adversarial_weight)
        of_noise, of_code = self.critic(torch.randn_like(code)), self.critic(reversed_code)
        return error + softplus(-of_noise).mean() + softplus(of_code).mean()


class GradientReversal(torch.autograd.Function):
    """The identity, whose gradient is reversed and weighted (Ganin and Lempitsky, 2015)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: float) -> Tensor:
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.weight * gradients[0], None


def build(config: Config, learned: dict[str, Any]) -> AdversarialAutoEncoder:
    """The learner, given what `learn` found."""
    return AdversarialAutoEncoder(config, learned)
