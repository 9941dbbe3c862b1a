"""Likelihoods of pictures given a decoder's logits, in nats a picture (004, §5.1.2).

A byte u stands for (u + ½)/256, which is never 0 or 1. All are computed in float32 whatever the logits
are: bfloat16 is wrong by tens of thousands of nats over the pixels of a picture.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn.functional import logsigmoid

from polymodal.base.errors import PolymodalError, unknown


@runtime_checkable
class Likelihood(Protocol):
    """p(x|z) of a picture in bytes, its pixels and colours independent given the logits."""

    parameters: ClassVar[int]
    """How many logits a pixel has."""

    def log_prob(
        self, logits: Float[Tensor, "b p h w"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """log p(x|z) in nats, summed over pixels and colours."""
        ...

    def mean(self, logits: Float[Tensor, "b p h w"]) -> Float[Tensor, "b 3 h w"]:
        """The expected picture, of values between 0 and 1."""
        ...


@dataclass(frozen=True, kw_only=True)
class Beta:
    """Beta(c m, c (1 − m)): the paper's, its two parameters bound to one sum (004, §5.1.2).

    The mean m is kept `squash` away from 0 and 1, where the density has no bound.
    """

    parameters: ClassVar[int] = 3

    concentration: float = 100.0
    """The sum of the two parameters, c."""
    squash: float = 0.01
    """The least mean, and the least distance of the mean from 1."""

    def __post_init__(self) -> None:
        check_positive("The concentration of a Beta likelihood", self.concentration)
        if not 0 < self.squash < 0.5:
            raise PolymodalError(
                f"A Beta likelihood's squash lies between 0 and 0.5; found {self.squash}."
            )

    def log_prob(
        self, logits: Float[Tensor, "b p h w"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """(α − 1) log x + (β − 1) log (1 − x) − log B(α, β), summed."""
        x = unit(images)
        alpha = self.concentration * self.mean(logits)
        beta = self.concentration - alpha
        normaliser = math.lgamma(self.concentration) - alpha.lgamma() - beta.lgamma()
        return ((alpha - 1) * x.log() + (beta - 1) * (-x).log1p() + normaliser).sum((1, 2, 3))

    def mean(self, logits: Float[Tensor, "b p h w"]) -> Float[Tensor, "b 3 h w"]:
        """m, between the squash and its distance from 1."""
        return self.squash + (1 - 2 * self.squash) * logits.float().sigmoid()


@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """N(m, std²), of one width for all pixels."""

    parameters: ClassVar[int] = 3

    std: float = 0.05
    """The standard deviation; a Beta's of concentration 100 is 0.05 amid its range."""

    def __post_init__(self) -> None:
        check_positive("The standard deviation of a Gaussian likelihood", self.std)

    def log_prob(
        self, logits: Float[Tensor, "b p h w"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """−½ ((x − m)/std)² − log (std √2π), summed."""
        away = (unit(images) - self.mean(logits)) / self.std
        return (-0.5 * away.square() - math.log(self.std * math.sqrt(2 * math.pi))).sum((1, 2, 3))

    def mean(self, logits: Float[Tensor, "b p h w"]) -> Float[Tensor, "b 3 h w"]:
        """m, the sigmoid of the logits."""
        return logits.float().sigmoid()


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """Laplace(m, scale), of one width for all pixels."""

    parameters: ClassVar[int] = 3

    scale: float = 0.035
    """The mean absolute deviation; the standard deviation is √2 times it."""

    def __post_init__(self) -> None:
        check_positive("The scale of a Laplace likelihood", self.scale)

    def log_prob(
        self, logits: Float[Tensor, "b p h w"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """−|x − m| / scale − log 2 scale, summed."""
        away = (unit(images) - self.mean(logits)).abs() / self.scale
        return (-away - math.log(2 * self.scale)).sum((1, 2, 3))

    def mean(self, logits: Float[Tensor, "b p h w"]) -> Float[Tensor, "b 3 h w"]:
        """m, the sigmoid of the logits."""
        return logits.float().sigmoid()


@dataclass(frozen=True, kw_only=True)
class Logistic:
    """The probability of each byte under a logistic distribution cut into 256 bins (Salimans et al., 2017).

    The first three logits are of its place m, the other three of its scale: from 1/1024, a quarter
    of a bin, to 1. What lies below 0 or above 1 belongs to the first and the last bin.
    """

    parameters: ClassVar[int] = 6

    def log_prob(
        self, logits: Float[Tensor, "b p h w"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """log (F(upper edge) − F(lower edge)), summed."""
        rate = 1024 ** (-logits[:, 3:].float()).sigmoid()  # one over the scale
        below = (images / 256 - self.mean(logits)) * rate
        bin = rate / 256
        # σ(a) − σ(b) = σ(a) σ(−b) (1 − exp(b − a)); the first bin has no lower edge, the last no upper
        upper = logsigmoid(below + bin).where(images < 255, 0.0)
        lower = logsigmoid(-below).where(images > 0, 0.0)
        both = (-torch.expm1(-bin)).log().where((images > 0) & (images < 255), 0.0)
        return (upper + lower + both).sum((1, 2, 3))

    def mean(self, logits: Float[Tensor, "b p h w"]) -> Float[Tensor, "b 3 h w"]:
        """m, the sigmoid of the first three logits."""
        return logits[:, :3].float().sigmoid()


KINDS: dict[str, Callable[[], Likelihood]] = {
    "beta": Beta,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "logistic": Logistic,
}


def likelihood_named(name: str) -> Likelihood:
    """The likelihood of a name, as it is unless told otherwise.

    >>> likelihood_named("beta")
    Beta(concentration=100.0, squash=0.01)
    """
    if name not in KINDS:
        raise unknown("likelihood", name, KINDS)
    return KINDS[name]()


def unit(images: UInt8[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Bytes as the middles of 256 bins between 0 and 1."""
    return (images.float() + 0.5) / 256


def check_positive(what: str, value: float) -> None:
    """A width must be something."""
    if not 0 < value < math.inf:
        raise PolymodalError(f"{what} is a positive number; found {value}.")
