"""A mean with what it may be off by: the value that every estimate of a finite sample returns."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over data; what cannot be told of too few is None."""

    value: float
    error: float | None
    """Its standard error: how far other data of the same kind would move it."""
    spread: float | None = None
    """How far other random samples for the same data would move it, one standard deviation."""

    def named(self, name: str) -> dict[str, float]:
        """The estimate among other scores.

        >>> Estimate(value=90.0, error=0.5).named("correctness")
        {'correctness': 90.0, 'correctness_error': 0.5}
        """
        figures = {name: self.value, f"{name}_error": self.error, f"{name}_spread": self.spread}
        return {key: value for key, value in figures.items() if value is not None}


def mean(values: Float[Tensor, " b"], spread: float | None = None) -> Estimate:
    """The mean of one value a datum.

    >>> import torch
    >>> mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
    Estimate(value=3.0, error=1.0801234497346435, spread=None)
    """
    values = some(values).detach().double()
    error = (values.std() / len(values) ** 0.5).item() if len(values) > 1 else None
    return Estimate(value=values.mean().item(), error=error, spread=spread)


def over_samples(values: Float[Tensor, "s b"]) -> Estimate:
    """The mean of s random samples (rows) for each datum (columns), with both deviations."""
    values = some(values).detach().double()
    several = len(values) > 1
    spread = (values.var(0).mean() / values.numel()).sqrt().item() if several else None
    return mean(values.mean(0), spread)


def some(values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The values, refused where there are none."""
    if not values.numel():
        raise PolymodalError(
            f"There is nothing to take the mean of: values of shape {tuple(values.shape)} were given."
        )
    return values
