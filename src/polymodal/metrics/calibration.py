"""How far claimed chances are from what is observed: reliability by bins and the expected calibration error.

Bins are of equal width. The expected calibration error is the mean of |claimed − observed| over bins, each
weighed by its queries (Naeini et al., 2015). Few queries in a bin differ from a true claim by accident, so
the error of perfect claims is above 0 too.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from polymodal.base.errors import PolymodalError

BINS = 10


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The queries whose claims lie in one bin."""

    claimed: float
    """Their mean claim."""
    observed: float
    """The share of them that came true."""
    count: int

    @property
    def gap(self) -> float:
        """How far the claim is from what is observed."""
        return abs(self.claimed - self.observed)


def reliability(
    claimed: Float[Tensor, " q"], right: Bool[Tensor, " q"], bins: int = BINS
) -> dict[int, Bin]:
    """The bins that have any queries, by their place; a claim at an edge belongs to the bin below it.

    >>> reliability(torch.tensor([0.84, 0.86, 0.3]), torch.tensor([True, False, True]))[8].observed
    0.5
    """
    if (
        claimed.shape != right.shape
        or not len(claimed)
        or not ((claimed >= 0) & (claimed <= 1)).all()
    ):
        raise PolymodalError(
            "Calibration needs a chance from 0 to 1 and an outcome for each query, and at least one; "
            f"found shapes {tuple(claimed.shape)} and {tuple(right.shape)}."
        )
    claimed = claimed.cpu().double()
    edges = torch.linspace(0, 1, bins + 1, dtype=torch.double)
    place = (torch.bucketize(claimed, edges) - 1).clamp(min=0)
    by_bin = {}
    for number in place.unique().tolist():
        inside = place == number
        by_bin[number] = Bin(
            claimed=claimed[inside].mean().item(),
            observed=right.cpu()[inside].double().mean().item(),
            count=int(inside.sum()),
        )
    return by_bin


def calibration_error(
    claimed: Float[Tensor, " q"], right: Bool[Tensor, " q"], bins: int = BINS
) -> float:
    """The expected calibration error, from 0 to 1.

    >>> calibration_error(torch.tensor([0.75, 0.75]), torch.tensor([True, False]))
    0.25
    """
    parts = reliability(claimed, right, bins).values()
    return sum(part.count * part.gap for part in parts) / len(claimed)
