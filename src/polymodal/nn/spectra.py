"""Spectral norm: layers whose weights have no direction longer than 1 (Miyato et al., 2018)."""

from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.parametrize import register_parametrization

Layer = TypeVar("Layer", bound=nn.Module)

FIRST = 15
"""Steps of the power method at the beginning."""


def spectral_norm(layer: Layer) -> Layer:
    """A layer whose weight is divided by its largest singular value."""
    weight: Tensor = layer.get_parameter("weight")
    register_parametrization(layer, "weight", Spectrum(weight.detach()))
    return layer


class Spectrum(nn.Module):
    """A weight by its largest singular value, which the power method follows by one step a use in training.

    In float32 whatever autocast says: torch's own estimate would be of bfloat16.
    """

    u: Tensor
    v: Tensor

    def __init__(self, weight: Float[Tensor, "o *i"]) -> None:
        super().__init__()
        rows = weight.flatten(1)
        self.register_buffer("u", normalize(torch.randn(rows.shape[0]), dim=0))
        self.register_buffer("v", normalize(torch.randn(rows.shape[1]), dim=0))
        for _ in range(FIRST):
            self.follow(rows)

    @torch.no_grad()
    def follow(self, rows: Float[Tensor, "o n"]) -> None:
        """A step towards the first singular vectors."""
        self.u.copy_(normalize(rows @ self.v, dim=0))
        self.v.copy_(normalize(rows.T @ self.u, dim=0))

    def forward(self, weight: Float[Tensor, "o *i"]) -> Float[Tensor, "o *i"]:
        rows = weight.flatten(1)
        with torch.autocast(weight.device.type, enabled=False):
            if self.training:
                self.follow(rows)
            # of copies, since later uses move the vectors before gradients flow back
            return weight / torch.dot(self.u.clone(), rows @ self.v.clone())
