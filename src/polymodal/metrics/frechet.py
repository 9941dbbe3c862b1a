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
    """The mean and scatter of features that come block by block, in float64."""

    def __init__(self, dim: int, device: torch.device | str = "cpu") -> None:
        self.count = 0
        self.mean = torch.zeros(dim, dtype=torch.float64, device=device)
        self.scatter = torch.zeros(dim, dim, dtype=torch.float64, device=device)

    def add(self, features: Float[Tensor, "n d"]) -> None:
        """Take more rows. Scatters about two means are joined by Chan's rule, so that no large sums
        cancel."""
        if not len(features):
            return
        rows = features.detach().to(self.mean)
        n, total = len(rows), self.count + len(rows)
        mean = rows.mean(0)
        centred, away = rows - mean, mean - self.mean
        self.scatter += centred.T @ centred + torch.outer(away, away) * (self.count * n / total)
        self.mean += away * (n / total)
        self.count = total

    @property
    def covariance(self) -> Float64[Tensor, "d d"]:
        """The unbiased covariance, divided by the count less one as FID's authors do."""
        if self.count < 2:
            raise PolymodalError(
                f"A Fréchet distance needs two items or more on either side; found {self.count}."
            )
        return self.scatter / (self.count - 1)


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
    ours, theirs = a.covariance, b.covariance.to(a.mean.device)
    roots = torch.linalg.svdvals(factor(ours).T @ factor(theirs)).sum()
    shift = (a.mean - b.mean.to(a.mean.device)).square().sum()
    return max((shift + ours.trace() + theirs.trace() - 2 * roots).item(), 0.0)


def factor(covariance: Float64[Tensor, "d d"]) -> Float64[Tensor, "d k"]:
    """L of L Lᵀ = Σ, without the directions in which nothing varies but by rounding."""
    values, vectors = torch.linalg.eigh(covariance)
    least = values[-1] * len(values) * torch.finfo(values.dtype).eps
    real = values > least
    return vectors[:, real] * values[real].sqrt()


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
