"""Towers: an encoder and the maps from its encoding to an embedding, a point or a Gaussian."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.nn.image_encoders import Standardised, width


class Points(nn.Module):
    """A linear map of an encoding (001, eq. 3 and 9), of unit length where asked (VSE++)."""

    def __init__(self, encoder: nn.Module, dim: int, *, unit: bool = True) -> None:
        super().__init__()
        self.encoder, self.unit = encoder, unit
        self.head = nn.Linear(width(encoder), dim)

    def forward(self, *inputs: Any) -> Float[Tensor, "b d"]:
        points: Tensor = self.head(self.encoder(*inputs))
        return normalize(points, dim=-1) if self.unit else points


class Gaussians(nn.Module):
    """Means and log-variances, a linear map each (001, eq. 4–5, 7–8, 11–14).

    Captions have a second encoder for the log-variances, `spread`; images, whose encoder is
    pretrained, have one encoding for both. `allow` brings free log-variances to allowed ones:
    within their bounds, and all alike where the Gaussians are spherical.
    """

    def __init__(
        self,
        encoder: nn.Module,
        dim: int,
        *,
        spread: nn.Module | None = None,
        unit: bool = True,
        allow: Callable[[Tensor], Tensor],
        start: float,
        scale: float,
    ) -> None:
        super().__init__()
        self.encoder, self.spread, self.unit, self.allow = encoder, spread, unit, allow
        self.mean = nn.Linear(width(encoder), dim)
        self.log_var = nn.Linear(width(spread or encoder), dim)
        with torch.no_grad():
            self.log_var.weight.mul_(scale)
            self.log_var.bias.fill_(start)

    def forward(self, *inputs: Any) -> DiagonalGaussian:
        encoding = self.encoder(*inputs)
        mean = self.mean(encoding)
        log_var = self.log_var(encoding if self.spread is None else self.spread(*inputs))
        return DiagonalGaussian(normalize(mean, dim=-1) if self.unit else mean, self.allow(log_var))


@torch.no_grad()
def begin_as(tower: Points | Gaussians, projection: Float[Tensor, "d e"]) -> None:
    """Let a tower's points or means begin as a given map of what its encoder found, before that was
    standardised."""
    head = tower.head if isinstance(tower, Points) else tower.mean
    if head.weight.shape != projection.shape:
        raise PolymodalError(
            f"Embeddings that begin as the model's own have its width: --embed-dim "
            f"{len(projection)}, not {head.out_features}."
        )
    head.weight.copy_(projection)
    head.bias.zero_()
    if isinstance(tower.encoder, Standardised):
        head.bias.copy_(projection @ tower.encoder.mean)
        head.weight.mul_(tower.encoder.std)
