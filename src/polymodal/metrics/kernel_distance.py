"""KID, the kernel distance of two sets of features (Bińkowski et al., 2018): unbiased, however few."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, TwoOrMore, check_ranges
from polymodal.metrics.estimates import Estimate


@dataclass(frozen=True, kw_only=True)
class Subsets:
    """Which rows are compared: the mean over some subsets, as KID's authors take it."""

    count: OneOrMore[int] = 100
    """How many."""
    size: TwoOrMore[int] = 1000
    """Rows of each, drawn from either side without putting any back."""
    seed: int = 0
    """What they are drawn from."""

    def __post_init__(self) -> None:
        check_ranges(self)


def kernel_distance(
    real: Float[Tensor, "n d"], made: Float[Tensor, "m d"], subsets: Subsets
) -> Estimate:
    """The mean of the unbiased squared MMD over subsets, and their standard deviation as its spread.

    torchmetrics draws its subsets from numpy's global generator; here they follow from a seed.
    """
    fewest = min(len(real), len(made))
    if fewest < subsets.size:
        raise PolymodalError(
            f"KID compares subsets of {subsets.size} items, but one side has {fewest}. Give smaller "
            "subsets, or more items."
        )
    chance = torch.Generator().manual_seed(subsets.seed)
    values = torch.stack(
        [
            squared_mmd(drawn(real, subsets.size, chance), drawn(made, subsets.size, chance))
            for _ in range(subsets.count)
        ]
    )
    spread = values.std().item() if subsets.count > 1 else None
    return Estimate(value=values.mean().item(), error=None, spread=spread)


def drawn(
    rows: Float[Tensor, "n d"], size: int, chance: torch.Generator
) -> Float64[Tensor, "size d"]:
    """Some of the rows, in double precision: what is left of the kernels' sums is small."""
    places = torch.randperm(len(rows), generator=chance)[:size]
    return rows[places.to(rows.device)].double()


def squared_mmd(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, ""]:
    """E k(a, a′) + E k(b, b′) − 2 E k(a, b), of different a, a′ and b, b′; it may be below 0.

    >>> squared_mmd(torch.zeros(3, 2), torch.zeros(2, 2))
    tensor(0.)
    """
    n, m = len(a), len(b)
    own, other = cubic_kernel(a, a), cubic_kernel(b, b)
    within = (own.sum() - own.trace()) / (n * (n - 1))
    without = (other.sum() - other.trace()) / (m * (m - 1))
    return within + without - 2 * cubic_kernel(a, b).mean()


def cubic_kernel(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    """(a·b / d + 1)³."""
    return (a @ b.T / a.shape[1] + 1) ** 3
