"""VAE and β-VAE: features trained by reconstruction from a Gaussian code (003, §4.4.1).

The features give the posterior of a code, which is kept near N(0, I) by a KL term (Kingma and
Welling, 2014). --beta above 1 keeps it nearer (Higgins et al., 2017). The image is reconstructed
from the code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.ranges import Positive, ZeroOrMore
from polymodal.maths.diagonal_gaussian import DiagonalGaussian, squashed
from polymodal.nn.dcgan import Drawer
from polymodal.nn.dense import HIGH, LOW
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Learner, Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A variational auto-encoder; the thesis gives neither code nor likelihood: both are ours."""

    code: Positive[int] = 128
    """Dimension of the code."""
    beta: ZeroOrMore[float] = 1.0
    """KL weight."""
    std: Positive[float] = 0.5
    """Standard deviation of a pixel in the likelihood, with images scaled to [−1, 1]."""


class VariationalAutoEncoder(Learner):
    """Minus the bound on log p(x), up to a constant, in nats per pixel value. A sum over all values
    would outweigh the local loss."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.code = nn.Linear(config.dim, 2 * config.code)
        self.drawer = Drawer(code=config.code, size=self.encoder.size, slim=config.slim)

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        (features,) = views
        mean, log_var = self.code(features.whole).float().chunk(2, -1)
        code = DiagonalGaussian(mean, squashed(log_var, LOW, HIGH))
        drawn = self.drawer.error(code.sample(), features.seen, self.config.std)
        apart = code.kl(DiagonalGaussian.standard(mean))
        return (drawn + self.config.beta * apart).mean() / features.seen[0].numel()


def build(config: Config, learned: dict[str, Any]) -> VariationalAutoEncoder:
    """The learner, given what `learn` found."""
    return VariationalAutoEncoder(config, learned)
