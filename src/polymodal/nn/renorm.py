"""Batch norm that gives in training what it gives in testing (Ioffe, 2017)."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

Norm = Literal["batch", "renorm"]
"""How a layer is normalised: by the moments of its batch, or by running ones."""

SETTLED = 1000
"""Batches after which running moments are trusted; until then they follow ten times as fast."""

MOMENTUM = 0.01
"""The share of a batch in the running moments once they are trusted."""

SCALES, SHIFTS = 3.0, 5.0
"""The most by which a batch's deviation, or its mean in deviations, may differ from the running one."""


class BatchRenorm(nn.BatchNorm1d):
    """Running moments normalise, once they have settled; the gradient knows the batch's own.

    The moments of a batch of b move by a share 1/√b of a deviation from one batch to the next, and with
    them what all layers above see: in training no latent variable can be more precise than that.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, features: int) -> None:
        super().__init__(features, momentum=MOMENTUM)

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        if not self.training:
            return super().forward(x)
        var, mean = torch.var_mean(x, 0, correction=0)
        deviation = (var + self.eps).sqrt()
        scale, shift = self.corrections(mean.detach(), deviation.detach())
        self.follow(mean.detach(), var.detach())
        return ((x - mean) / deviation * scale + shift) * self.weight + self.bias

    def corrections(
        self, mean: Float[Tensor, " d"], deviation: Float[Tensor, " d"]
    ) -> tuple[Float[Tensor, " d"], Float[Tensor, " d"]]:
        """r and d of the paper, which turn what the batch's moments give into what the running ones do."""
        known = (self.running_var + self.eps).sqrt()
        settled = self.num_batches_tracked >= SETTLED
        scale = (deviation / known).clamp(1 / SCALES, SCALES)
        shift = ((mean - self.running_mean) / known).clamp(-SHIFTS, SHIFTS)
        return torch.where(settled, scale, 1.0), torch.where(settled, shift, 0.0)

    def follow(self, mean: Float[Tensor, " d"], var: Float[Tensor, " d"]) -> None:
        """Move the running moments towards a batch's."""
        pace = torch.where(self.num_batches_tracked >= SETTLED, MOMENTUM, 10 * MOMENTUM)
        self.running_mean.lerp_(mean, pace.to(mean.dtype))
        self.running_var.lerp_(var, pace.to(var.dtype))
        self.num_batches_tracked += 1


def normalised(features: int, norm: Norm) -> nn.BatchNorm1d:
    """The layer of that name."""
    return nn.BatchNorm1d(features) if norm == "batch" else BatchRenorm(features)
