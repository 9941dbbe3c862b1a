"""Batch norms whose scale and shift differ from pixel to pixel, by a layout (003, §6.3.2)."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn import functional

from polymodal.nn.layout_conditioning import Condition
from polymodal.nn.spectra import spectral_norm

EPSILON = 1e-5
"""What is added to a variance before it divides."""


class SumOverProcesses(torch.autograd.Function):
    """The sum of every process's tensor, forwards; of every process's gradient, backwards."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> Tensor:
        total = mine.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        dist.all_reduce(total)
        return total


class SharedBatchNorm(nn.Module):
    """Maps at mean 0 and variance 1 over a batch that all processes share (003, §6.4.2).

    Torch's own SyncBatchNorm is for GPUs alone. Moments are float32, whatever the maps are.

    Args:
        channels: of the maps.
        momentum: how much of a new batch's moments the kept ones take.
    """

    mean: Tensor
    var: Tensor

    def __init__(self, channels: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("var", torch.ones(channels))

    def forward(self, maps: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        if not self.training or not shared():
            return functional.batch_norm(
                maps, self.mean, self.var, None, None, self.training, self.momentum, EPSILON
            )
        wide = maps.to(torch.promote_types(maps.dtype, torch.float32))
        count = wide.new_full((1,), wide.numel() / wide.shape[1])
        dist.all_reduce(count)
        mean = SumOverProcesses.apply(wide.sum((0, 2, 3))) / count
        away = wide - mean.view(1, -1, 1, 1)
        var = SumOverProcesses.apply(away.square().sum((0, 2, 3))) / count
        with torch.no_grad():
            self.mean.lerp_(mean, self.momentum)
            self.var.lerp_(var * count / (count - 1), self.momentum)
        return (away * (var + EPSILON).rsqrt().view(1, -1, 1, 1)).to(maps.dtype)


def shared() -> bool:
    """Whether several processes train together."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


class PixelNorm(nn.Module):
    """γ and β of each pixel by two convolutions of the condition's maps (Park et al., 2019).

    Args:
        channels: of the maps that are normalised.
        condition: maps of the condition.
        width: maps between the two convolutions; SPADE has 128.
        momentum: of the batch norm.
    """

    def __init__(self, channels: int, *, condition: int, width: int, momentum: float) -> None:
        super().__init__()
        self.norm = SharedBatchNorm(channels, momentum)
        self.seen = spectral_norm(nn.Conv2d(condition, width, 3, padding=1))
        self.scale_shift = spectral_norm(nn.Conv2d(width, 2 * channels, 3, padding=1))

    def forward(
        self, maps: Float[Tensor, "b c h w"], condition: Condition
    ) -> Float[Tensor, "b c h w"]:
        seen = self.seen(condition.maps(maps.shape[-1])).relu()
        scale, shift = self.scale_shift(seen).chunk(2, 1)
        return torch.addcmul(shift, self.norm(maps), 1 + scale)


class ObjectNorm(nn.Module):
    """γ and β of each object, placed by its mask and averaged where objects overlap: the ISLA norm of
    LostGAN (Sun and Wu, 2019).

    Args:
        channels: of the maps that are normalised.
        objects: the width of an object's embedding.
        momentum: of the batch norm.
    """

    def __init__(self, channels: int, *, objects: int, momentum: float) -> None:
        super().__init__()
        self.norm = SharedBatchNorm(channels, momentum)
        self.scale_shift = spectral_norm(nn.Linear(objects, 2 * channels))

    def forward(
        self, maps: Float[Tensor, "b c h w"], condition: Condition
    ) -> Float[Tensor, "b c h w"]:
        masks, embeddings = condition.of_objects(maps.shape[-1])
        shares = masks / masks.sum(1, keepdim=True).clamp_min(1e-6)
        each = self.scale_shift(embeddings)
        scale, shift = torch.einsum("bohw,boc->bchw", shares.to(each.dtype), each).chunk(2, 1)
        return torch.addcmul(shift, self.norm(maps), 1 + scale)
