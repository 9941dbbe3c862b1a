"""The Fréchet distance of two sets of features: FID, and SceneFID where they are of object crops (003, §6.4).

torchmetrics' FrechetInceptionDistance gives the same figure (a test compares them), but not so well: it
takes pictures and no features, so that the real ones are seen anew by every process; it sums squares
that are not centred; and it takes roots of the eigenvalues of a product that is not symmetric, which
rounding makes complex where rows are fewer than features.
"""

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from polymodal.base.errors import PolymodalError


class Moments:
    """The mean of features that come block by block, and what their covariance is made of, in float64.

    As long as there are no more rows than features, the rows themselves are kept: centred, they are a
    factor of the covariance, and a small one. Then it is the scatter.
    """

    def __init__(self, dim: int, device: torch.device | str = "cpu") -> None:
        self.count = 0
        self.mean = torch.zeros(dim, dtype=torch.float64, device=device)
        self.few: Float64[Tensor, "n d"] | None = self.mean.new_zeros(0, dim)
        self.scatter = self.mean.new_zeros(())  # d d, once there are more

    def add(self, features: Float[Tensor, "n d"]) -> None:
        """Take more rows. Scatters about two means are joined by Chan's rule, so that no large sums
        cancel."""
        if not len(features):
            return
        rows = features.detach().to(self.mean)
        if self.few is not None:
            rows, self.count = torch.cat([self.few, rows]), 0
            self.few = rows if len(rows) <= len(self.mean) else None
        n, total = len(rows), self.count + len(rows)
        mean = rows.mean(0)
        if self.few is None:
            centred, away = rows - mean, mean - self.mean
            between = torch.outer(away, away) * (self.count * n / total)
            self.scatter = self.scatter + centred.T @ centred + between
        self.mean = self.mean + (mean - self.mean) * (n / total)
        self.count = total

    @property
    def factor(self) -> Float64[Tensor, "d k"]:
        """L of L Lᵀ = Σ, the unbiased covariance, divided by the count less one as FID's authors do;
        without the directions in which nothing varies but by rounding."""
        if self.count < 2:
            raise PolymodalError(
                f"A Fréchet distance needs two items or more on either side; found {self.count}."
            )
        share = (self.count - 1) ** -0.5
        if self.few is not None:
            return share * (self.few - self.mean).T
        values, vectors = torch.linalg.eigh(self.scatter)
        least = values[-1] * len(values) * torch.finfo(values.dtype).eps
        real = values > least
        return share * vectors[:, real] * values[real].sqrt()


def moments_of(features: Float[Tensor, "n d"]) -> Moments:
    """The moments of features that are at hand at once."""
    found = Moments(features.shape[1], features.device)
    found.add(features)
    return found


def frechet_distance(a: Moments, b: Moments) -> float:
    """‖μₐ − μᵦ‖² + tr(Σₐ + Σᵦ − 2 (Σₐ Σᵦ)^½), at least 0.

    With Σ = L Lᵀ, tr (Σₐ Σᵦ)^½ is the sum of the singular values of Lₐᵀ Lᵦ: no root is taken of a
    number that rounding made negative.

    >>> a, b = moments_of(torch.tensor([[-1.0], [1.0]])), moments_of(torch.tensor([[2.0], [4.0]]))
    >>> round(frechet_distance(a, b), 6)
    9.0
    """
    if a.mean.shape != b.mean.shape:
        raise PolymodalError(
            f"Features of {len(a.mean)} and of {len(b.mean)} dimensions cannot be compared. Compute both "
            "with one feature network."
        )
    ours, theirs = a.factor, b.factor.to(a.mean.device)
    roots = torch.linalg.svdvals(ours.T @ theirs).sum()
    shift = (a.mean - b.mean.to(a.mean.device)).square().sum()
    spread = ours.square().sum() + theirs.square().sum()
    return max((shift + spread - 2 * roots).item(), 0.0)


def shortage(*sides: Moments) -> str | None:
    """What to know of a distance of fewer rows than features need, in plain words; else None.

    >>> shortage(moments_of(torch.eye(3)))
    'A covariance of 3 features was estimated from 3 items, so its rank is 2 at most and the distance \
is too large. Compare it only with distances of as many items.'
    """
    count, dim = min((side.count, len(side.mean)) for side in sides)
    if count > dim:
        return None
    return (
        f"A covariance of {dim} features was estimated from {count} items, so its rank is {count - 1} at "
        "most and the distance is too large. Compare it only with distances of as many items."
    )
