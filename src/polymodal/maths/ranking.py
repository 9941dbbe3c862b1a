"""Ranking losses as functions of a score matrix whose true pairs lie on the diagonal."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Negatives = Literal["hardest", "sum", "semi-hard"]


def hinge(
    scores: Float[Tensor, "b b"],
    margin: float,
    negatives: Negatives = "hardest",
    owner: Int[Tensor, " b"] | None = None,
) -> Float[Tensor, ""]:
    """Sum over pairs of [α + s(i, c′) − s(i, c)]₊ + [α + s(i′, c) − s(i, c)]₊ (001, eq. 1–2).

    `hardest` takes the worst c′ and i′ of the batch (VSE++), `sum` takes them all (VSE0), and
    `semi-hard` the worst among those that score below the true pair (Schroff et al., 2015), or the
    easiest where there is none. Two captions of one image, known by `owner`, are no negatives.

    >>> hinge(torch.tensor([[0.9, 0.8], [0.1, 0.5]]), margin=0.2)
    tensor(0.6000)
    """
    wrong = negative_pairs(len(scores), owner, scores.device)
    true = scores.diagonal()
    by_image = cost(scores, true[:, None], wrong, margin, negatives, dim=1)
    by_caption = cost(scores, true[None, :], wrong, margin, negatives, dim=0)
    return by_image + by_caption


def negative_pairs(
    b: int, owner: Int[Tensor, " b"] | None, device: torch.device
) -> Bool[Tensor, "b b"]:
    """Which pairs of the batch are wrong: image i and caption j of another image."""
    if owner is None:
        owner = torch.arange(b, device=device)
    return owner[:, None] != owner[None, :]


def cost(
    scores: Float[Tensor, "b b"],
    true: Float[Tensor, "..."],
    wrong: Bool[Tensor, "b b"],
    margin: float,
    negatives: Negatives,
    dim: int,
) -> Float[Tensor, ""]:
    """The hinge of each query, its negatives lying along `dim`, summed over queries."""
    if negatives == "sum":
        return ((margin + scores - true).clamp(min=0) * wrong).sum()
    if negatives == "semi-hard":
        wrong = semi_hard(scores, true, wrong, dim)
    hardest = (margin + scores - true).masked_fill(~wrong, -torch.inf).amax(dim)
    return hardest.clamp(min=0).sum()


def semi_hard(
    scores: Float[Tensor, "b b"], true: Float[Tensor, "..."], wrong: Bool[Tensor, "b b"], dim: int
) -> Bool[Tensor, "b b"]:
    """The negatives that score below the true pair; for a query with none, its easiest negative."""
    below = wrong & (scores < true)
    easiest = scores.masked_fill(~wrong, torch.inf)
    easiest = wrong & (easiest == easiest.amin(dim, keepdim=True))
    return torch.where(below.any(dim, keepdim=True), below, easiest)
