"""Bounds on a log-likelihood from samples of the latent variable.

A log-weight is log p(x, z) − log q(z|x) for a z that was drawn from q(z|x); what the joint density is,
the system says: p(x|z) p(y|z) p(z) (004, eq. 1), p(y|z) p(z) (eq. 3), p(x|z) q(z|y) (eq. 6) or
p(x|z) q(z) (§4.2). Rows of `log_weights` are samples, columns data.
"""

import math

from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.metrics.estimates import Estimate, mean, over_samples


def lower_bound(log_weights: Float[Tensor, "s b"]) -> Estimate:
    """E_q[log w] ≤ log p, in nats a datum (004, eq. 1, 3 and 6)."""
    return over_samples(checked(log_weights))


def importance_bound(log_weights: Float[Tensor, "s b"]) -> Estimate:
    """E_q[log (1/s) Σ w] ≤ log p, in nats a datum, and closer with every sample (Burda et al., 2016).

    Its spread is that of the weights over their mean, which is the logarithm's to first order: honest
    where no weight outweighs all others.
    """
    weights = checked(log_weights)
    s = len(weights)
    spread = over_samples(s * weights.softmax(0)).spread
    return mean(weights.logsumexp(0) - math.log(s), spread)


def checked(log_weights: Float[Tensor, "s b"]) -> Float[Tensor, "s b"]:
    """The log-weights in double, refused where they are no numbers."""
    bad = int((~log_weights.isfinite()).sum())
    if bad:
        raise PolymodalError(
            f"{bad} of {log_weights.numel()} log-weights are not finite, so there is no bound. "
            "Check the densities that they are summed from, in float32 at least."
        )
    return log_weights.detach().double()
