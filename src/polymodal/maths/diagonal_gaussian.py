"""Gaussians with a diagonal covariance: the value that every probabilistic encoder returns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError

LOW, HIGH = 0.1, 10.0
"""The range of the variances (001, §3.1)."""


@dataclass(frozen=True, eq=False, repr=False)
class DiagonalGaussian:
    """A batch of Gaussians N(mean, diag(exp(log_var)))."""

    mean: Float[Tensor, "*batch d"]
    log_var: Float[Tensor, "*batch d"]

    def __post_init__(self) -> None:
        if self.mean.shape != self.log_var.shape:
            raise PolymodalError(
                "A Gaussian's mean and log-variance need one shape; "
                f"found {tuple(self.mean.shape)} and {tuple(self.log_var.shape)}."
            )

    def __repr__(self) -> str:
        return f"DiagonalGaussian({' × '.join(map(str, self.shape))}, {self.dtype}, {self.device})"

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, rows: Any) -> "DiagonalGaussian":
        """Some of the batch: an index, a slice, a mask or a tensor of places."""
        return DiagonalGaussian(self.mean[rows], self.log_var[rows])

    def to(self, *args: Any, **kwargs: Any) -> "DiagonalGaussian":
        """The same Gaussians on another device or in another precision."""
        return DiagonalGaussian(self.mean.to(*args, **kwargs), self.log_var.to(*args, **kwargs))

    def detach(self) -> "DiagonalGaussian":
        """The same Gaussians, as constants."""
        return DiagonalGaussian(self.mean.detach(), self.log_var.detach())

    @property
    def shape(self) -> torch.Size:
        return self.mean.shape

    @property
    def device(self) -> torch.device:
        return self.mean.device

    @property
    def dtype(self) -> torch.dtype:
        return self.mean.dtype

    @property
    def var(self) -> Float[Tensor, "*batch d"]:
        """The variances."""
        return self.log_var.exp()

    @property
    def std(self) -> Float[Tensor, "*batch d"]:
        """The standard deviations."""
        return (0.5 * self.log_var).exp()

    def log_det(self) -> Float[Tensor, "*batch"]:
        """log det Σ, the paper's measure of uncertainty (001, §3.1)."""
        return self.log_var.sum(-1)

    def entropy(self) -> Float[Tensor, "*batch"]:
        """The differential entropy ½ (d + d log 2π + log det Σ) in nats (001, eq. 18)."""
        d = self.mean.shape[-1]
        return 0.5 * (d * (1 + math.log(2 * math.pi)) + self.log_det())

    def kl(self, other: "DiagonalGaussian") -> Float[Tensor, "*batch"]:
        """KL(self ‖ other) in nats (001, eq. 15)."""
        return self.kl_by_dimension(other).sum(-1)

    def kl_by_dimension(self, other: "DiagonalGaussian") -> Float[Tensor, "*batch d"]:
        """What each dimension adds to KL(self ‖ other). The only Gaussian KL in the package."""
        log_ratio = self.log_var - other.log_var
        shift = (self.mean - other.mean).square() * (-other.log_var).exp()
        return 0.5 * (log_ratio.exp() + shift - 1 - log_ratio)

    @staticmethod
    def standard(like: Float[Tensor, "*batch d"]) -> "DiagonalGaussian":
        """N(0, I), as many as a tensor has rows."""
        return DiagonalGaussian(torch.zeros_like(like), torch.zeros_like(like))

    def sample(self, count: int | None = None) -> Float[Tensor, "..."]:
        """A draw from each Gaussian, or `count` draws along a new first axis, with gradients."""
        shape = self.mean.shape if count is None else (count, *self.mean.shape)
        noise = torch.randn(shape, dtype=self.mean.dtype, device=self.mean.device)
        return self.mean + self.std * noise

    def log_prob(self, z: Float[Tensor, "*s d"]) -> Float[Tensor, "*s"]:
        """log N(z; mean, Σ) in nats."""
        noise = (z - self.mean) * (-0.5 * self.log_var).exp()
        return -0.5 * (noise.square() + math.log(2 * math.pi) + self.log_var).sum(-1)

    def product(self, other: "DiagonalGaussian") -> "DiagonalGaussian":
        """The Gaussian proportional to the product of the two densities: precisions add up."""
        share = torch.sigmoid(other.log_var - self.log_var)  # of this one in the new mean
        mean = torch.lerp(other.mean, self.mean, share)
        return DiagonalGaussian(mean, -torch.logaddexp(-self.log_var, -other.log_var))

    @staticmethod
    def join(parts: "Sequence[DiagonalGaussian]") -> "DiagonalGaussian":
        """Several batches as one."""
        return DiagonalGaussian(
            torch.cat([part.mean for part in parts]), torch.cat([part.log_var for part in parts])
        )


def clamped(
    log_var: Float[Tensor, "*batch d"], low: float = LOW, high: float = HIGH
) -> Float[Tensor, "*batch d"]:
    """Cut variances off at `low` and `high`, where they stop learning (001, §3.1).

    >>> clamped(torch.tensor([-9.0, 0.5, 9.0])).exp()
    tensor([ 0.1000,  1.6487, 10.0000])
    """
    check_range(low, high)
    return log_var.clamp(math.log(low), math.log(high))


def squashed(
    log_var: Float[Tensor, "*batch d"], low: float = LOW, high: float = HIGH
) -> Float[Tensor, "*batch d"]:
    """Bend log-variances into the range by a sigmoid of slope one amid it: they never stop learning.

    >>> squashed(torch.tensor([-9.0, 0.0, 9.0])).exp()
    tensor([0.1002, 1.0000, 9.9815])
    """
    check_range(low, high)
    middle, half = 0.5 * math.log(low * high), 0.5 * math.log(high / low)
    return middle + half * torch.tanh((log_var - middle) / half)


def check_range(low: float, high: float) -> None:
    """Variances lie between two positive numbers."""
    if not 0 < low < high < math.inf:
        raise PolymodalError(
            f"Variances need bounds 0 < low < high; found low = {low} and high = {high}."
        )


def spherical(log_var: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
    """One variance for all dimensions: the mean of the log-variances (001, §3.1).

    >>> spherical(torch.tensor([[-1.0, 2.0, 5.0]]))
    tensor([[2., 2., 2.]])
    """
    return log_var.mean(-1, keepdim=True).expand_as(log_var)


def bounded(
    log_var: Float[Tensor, "*batch d"],
    *,
    low: float,
    high: float,
    bound: Literal["clamp", "squash"],
    alike: bool,
) -> Float[Tensor, "*batch d"]:
    """Free log-variances within their bounds, and the same in all dimensions where `alike` (001, §3.1).

    >>> free = torch.tensor([[-9.0, 9.6]])
    >>> bounded(free, low=0.1, high=10.0, bound="clamp", alike=True)
    tensor([[0.3000, 0.3000]])
    """
    free = spherical(log_var) if alike else log_var
    return (clamped if bound == "clamp" else squashed)(free, low, high)
