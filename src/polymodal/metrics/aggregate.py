"""The aggregate posterior q(z) = E_x[q(z|x)], and how far it lies from a prior (004, §5.6).

For n Gaussian posteriors q(z|xᵢ) the aggregate is their even mixture, and
E_x KL(q(z|x) ‖ p(z)) = E_x KL(q(z|x) ‖ q(z)) + KL(q(z) ‖ p(z)) (004, eq. 14–17). The same holds with
any other density in the prior's place, such as a flow q_φ(z|y) (004, eq. 5 and 19).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import hold, mahalanobis
from polymodal.metrics.estimates import Estimate, over_samples

NUMBERS = 2**25
"""How many of the log-densities of samples under posteriors are in memory at once."""

BORDER = 0.01
"""The most of a density that may lie on the rim of a grid."""

Density = Callable[[Float[Tensor, "m z"]], Float[Tensor, " m"]]
"""The log-density of each of m latents."""


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """The two parts of a mean KL, in nats, and their sum (004, eq. 17)."""

    posterior_to_aggregate: Estimate
    """E_x KL(q(z|x) ‖ q(z)): what z tells of x, log n at most."""
    aggregate_to_prior: Estimate
    """KL(q(z) ‖ p(z)): the mismatch that a learned prior takes away."""
    posterior_to_prior: Estimate
    """E_x KL(q(z|x) ‖ p(z)), the KL term of the bound, from the same samples."""


@torch.no_grad()
def decompose(
    posteriors: DiagonalGaussian, samples: Float[Tensor, "s n z"], prior: Density | None = None
) -> Decomposition:
    """The KL term of n posteriors in two parts, from s samples of each (`posteriors.sample(s)`).

    The prior is N(0, I) unless another density is given.
    """
    flat = samples.flatten(0, 1)
    posterior = posteriors.to(torch.double).log_prob(samples.double())
    aggregate = aggregate_log_prob(posteriors, flat).reshape(posterior.shape)
    reference = (prior or standard)(flat).double().reshape(posterior.shape)
    return Decomposition(
        posterior_to_aggregate=over_samples(posterior - aggregate),
        aggregate_to_prior=over_samples(aggregate - reference),
        posterior_to_prior=over_samples(posterior - reference),
    )


def standard(z: Float[Tensor, "m z"]) -> Float[Tensor, " m"]:
    """log N(z; 0, I), in double."""
    return DiagonalGaussian.standard(z.double()).log_prob(z)


def aggregate_log_prob(
    posteriors: DiagonalGaussian, z: Float[Tensor, "m z"], block: int | None = None
) -> Float[Tensor, " m"]:
    """log (1/n) Σᵢ q(z|xᵢ) of each latent, `block` of them at a time, as matrix products.

    In double: posteriors are so narrow that the products cancel to the last digits of a float.
    """
    posteriors, n = posteriors.to(torch.double), len(posteriors)
    block = block or max(NUMBERS // n, 1)
    distances = hold(mahalanobis, posteriors)
    peaks = posteriors.log_prob(posteriors.mean)[:, None]
    parts = [
        (peaks - 0.5 * distances(part).square()).logsumexp(0) for part in z.double().split(block)
    ]
    return torch.cat(parts) - math.log(n)


def grid_kl(log_p: Float[Tensor, "h w"], log_q: Float[Tensor, "h w"]) -> float:
    """KL(p ‖ q) in nats of two densities on one even grid, each known up to a factor (004, §5.5).

    >>> grid = torch.linspace(-8, 8, 161, dtype=torch.double)
    >>> p = -0.5 * (grid[:, None].square() + grid.square())
    >>> round(grid_kl(p, -0.5 * ((grid[:, None] - 1).square() + grid.square())), 6)
    0.5
    """
    p, q = normalised(log_p), normalised(log_q)
    return torch.where(p > -torch.inf, p.exp() * (p - q), 0.0).sum().item()


def normalised(log_density: Float[Tensor, "h w"]) -> Float[Tensor, "h w"]:
    """The log of each cell's share of the mass, refused where much of it lies on the rim."""
    shares = log_density.double().flatten().log_softmax(0).reshape(log_density.shape)
    rim = 1 - shares[1:-1, 1:-1].exp().sum().item()
    if not rim <= BORDER:
        raise PolymodalError(
            f"{rim:.1%} of a density lies on the rim of its grid, so more of it lies beyond. "
            "Take a wider grid."
        )
    return shares
