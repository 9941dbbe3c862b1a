"""Lower bounds on mutual information as functions of a score matrix, in nats, to be maximised.

A critic scores each row against each column, as global features against images, or against every
place of an image (Hjelm et al., 2019). Positives are pairs drawn together: the diagonal, unless told
otherwise. Negatives are pairs drawn apart: all others, unless told otherwise. A pair may be neither,
as two images of one class (003, A.7). Places of a positive image are positive, those of a negative
image negative. All is computed in float32 or finer, whatever the scores are.
"""

import math
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from polymodal.base.errors import PolymodalError, unknown

Scores = Float[Tensor, "m n *places"]
Pairs = Bool[Tensor, "..."]
"""Which of the m×n pairs. Masks in the host's memory are checked; to look at those of an accelerator
would make every step wait for it, so there a mean over no pair at all is NaN."""


@runtime_checkable
class Bound(Protocol):
    """From scores, positives and negatives to a lower bound."""

    def __call__(
        self, scores: Scores, positives: Pairs | None = None, negatives: Pairs | None = None
    ) -> Float[Tensor, ""]: ...


def infonce(
    scores: Scores, positives: Pairs | None = None, negatives: Pairs | None = None
) -> Float[Tensor, ""]:
    """Mean over positives of s − log (eˢ + Σ eˢ′) / (1 + k), s′ the k negatives of the same row.

    At most log (1 + k). It is a bound where negatives are independent (van den Oord et al., 2018);
    places of one image are not quite, which is DIM's own choice (Hjelm et al., 2019, eq. 5).

    >>> infonce(torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    tensor(0.6930)
    """
    scores, positives, negatives = prepared(scores, positives, negatives)
    apart = log_sum_exp(scores, negatives, dim=(1, 2))
    count = negatives.expand_as(scores).sum((1, 2), keepdim=True).to(scores.dtype)
    return mean(logsigmoid(scores - apart) + count.log1p(), positives)


def donsker_varadhan(
    scores: Scores, positives: Pairs | None = None, negatives: Pairs | None = None
) -> Float[Tensor, ""]:
    """Mean of s over positives − log of the mean of eˢ over negatives (003, eq. 2.1.5 and 4.4.1).

    The best critic is log p(x, y) / p(x) p(y), plus any constant. The logarithm of a mean over few
    negatives is too small, so that a small batch says too much.

    >>> donsker_varadhan(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor(1.)
    """
    scores, positives, negatives = prepared(scores, positives, negatives)
    count = negatives.expand_as(scores).sum().to(scores.dtype)
    apart = log_sum_exp(scores, negatives, dim=(0, 1, 2)).squeeze() - count.log()
    return mean(scores, positives) - apart


def jensen_shannon(
    scores: Scores, positives: Pairs | None = None, negatives: Pairs | None = None
) -> Float[Tensor, ""]:
    """log 4 + mean of log σ(s) over positives + mean of log σ(−s) over negatives (Hjelm et al., 2019, eq. 4).

    The best critic is log p(x, y) / p(x) p(y), where this is twice the Jensen–Shannon divergence of
    joint and product: no more than the mutual information, and no more than log 4, for
    KL(p‖q) − 2 JSD(p, q) = E_q f(p/q) with f(t) = (t + 1) log ½(t + 1) − t + 1 ≥ 0. (003, eq. 8.3.1,
    leaves log 4 out and has the sign of s wrong in its first term.)

    >>> jensen_shannon(torch.zeros(2, 2))
    tensor(0.)
    """
    scores, positives, negatives = prepared(scores, positives, negatives)
    together, apart = mean(logsigmoid(scores), positives), mean(logsigmoid(-scores), negatives)
    return math.log(4) + together + apart


BOUNDS: dict[str, Bound] = {
    "infonce": infonce,
    "donsker-varadhan": donsker_varadhan,
    "jensen-shannon": jensen_shannon,
}


def bound_named(name: str) -> Bound:
    """The bound of a name."""
    if name not in BOUNDS:
        raise unknown("bound on information", name, BOUNDS)
    return BOUNDS[name]


def soft_clip(scores: Scores, limit: float = 10.0) -> Scores:
    """c tanh(s / c): scores within ±c, nearly as they were about 0 (AMDIM, Bachman et al., 2019).

    >>> soft_clip(torch.tensor([[0.1, 1000.0]]))
    tensor([[ 0.1000, 10.0000]])
    """
    if not 0 < limit < math.inf:
        raise PolymodalError(f"The limit of clipped scores is a positive number; found {limit}.")
    return limit * torch.tanh(full(scores) / limit)


def score_penalty(scores: Scores, weight: float = 5e-2) -> Float[Tensor, ""]:
    """λ times the mean of s², of scores that are not clipped yet (AMDIM, Bachman et al., 2019).

    >>> score_penalty(torch.tensor([[2.0, -2.0]]))
    tensor(0.2000)
    """
    return weight * full(scores).square().mean()


def prepared(
    scores: Scores, positives: Pairs | None, negatives: Pairs | None
) -> tuple[Float[Tensor, "m n l"], Bool[Tensor, "m n 1"], Bool[Tensor, "m n 1"]]:
    """Scores with their places along one axis, and both masks, whatever was left out."""
    if scores.ndim < 2 or min(scores.shape[:2]) < 2 or not scores.numel():
        raise PolymodalError(
            "A bound on information tells true pairs from false ones: it takes scores of 2 rows and "
            f"2 columns or more. Found scores of shape {tuple(scores.shape)}. Give a larger batch."
        )
    m, n = scores.shape[:2]
    if positives is None:
        if m != n:
            raise PolymodalError(
                f"Scores of {m} rows and {n} columns have no diagonal of true pairs. Give `positives`."
            )
        positives = torch.eye(m, dtype=torch.bool, device=scores.device)
    check_mask("positives", positives, (m, n))
    negatives = ~positives if negatives is None else negatives
    check_mask("negatives", negatives, (m, n))
    if positives.device.type == "cpu" and (both := int((positives & negatives).sum())):
        raise PolymodalError(
            f"A pair is drawn together or apart, not both; found {both} such pairs among positives "
            "and negatives. Take the positives out of the negatives."
        )
    return full(scores).reshape(m, n, -1), positives[..., None], negatives[..., None]


def check_mask(what: str, pairs: Tensor, shape: tuple[int, int]) -> None:
    """A mask says of every pair whether it counts, and some do."""
    if pairs.dtype != torch.bool or pairs.shape != shape:
        raise PolymodalError(
            f"The {what} are booleans of the scores' rows and columns, {shape}; found {pairs.dtype} "
            f"of shape {tuple(pairs.shape)}."
        )
    if pairs.device.type == "cpu" and not pairs.any():
        raise PolymodalError(
            f"No pair of the batch is among its {what}. Give a larger batch, or one of more classes "
            "where pairs are told by class."
        )


def full(scores: Scores) -> Scores:
    """Scores in float32, unless they are finer."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def mean(values: Float[Tensor, "m n l"], pairs: Bool[Tensor, "m n 1"]) -> Float[Tensor, ""]:
    """The mean over some pairs and all their places."""
    return values.where(pairs, 0.0).sum() / pairs.expand_as(values).sum()


def log_sum_exp(
    scores: Float[Tensor, "m n l"], pairs: Bool[Tensor, "m n 1"], dim: tuple[int, ...]
) -> Float[Tensor, "..."]:
    """log Σ eˢ over some pairs and all their places, axes kept."""
    return scores.masked_fill(~pairs, -torch.inf).logsumexp(dim, keepdim=True)
