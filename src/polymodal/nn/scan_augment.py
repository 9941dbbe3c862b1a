"""Augmentation of scans on the device: all modalities and the mask of an item move together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample


@dataclass(frozen=True)
class Moving:
    """How much is drawn for each item, uniformly up to these limits."""

    turn: float = 15.0
    """Degrees, in the plane of the last two axes."""
    scale: float = 0.1
    """Change of the size."""
    flip: float = 0.5
    """Probability of a flip of the last axis, left and right."""
    brightness: float = 0.1
    """Added to each modality, in standard deviations of it."""
    contrast: float = 0.1
    """Change of the spread of each modality."""


def moved(
    scans: Sequence[Float[Tensor, "b _ *grid"]], mask: Int[Tensor, "b *grid"], how: Moving
) -> tuple[list[Float[Tensor, "b _ *grid"]], Int[Tensor, "b *grid"]]:
    """Scans and their mask, each item turned, scaled and flipped in its own way; each modality of it
    brighter or darker. Places from outside are as the border is."""
    theta = motions(len(mask), mask.ndim - 1, how, mask.device)
    grid = affine_grid(theta, [len(mask), 1, *mask.shape[1:]], align_corners=False)
    labels = grid_sample(
        mask[:, None].float(), grid, mode="nearest", padding_mode="border", align_corners=False
    )
    found = []
    for scan in scans:
        own = grid_sample(scan.float(), grid, padding_mode="border", align_corners=False)
        shape = (len(scan), *[1] * (scan.ndim - 1))
        gain = 1 + spread(shape, how.contrast, scan.device)
        found.append(own * gain + spread(shape, how.brightness, scan.device))
    return found, labels[:, 0].round().to(mask.dtype)


def motions(count: int, dims: int, how: Moving, device: torch.device) -> Float[Tensor, "b k l"]:
    """From places of the moved scan to those of the scan, an affine map of each item."""
    angle = spread((count,), how.turn * math.pi / 180, device)
    size = 1 + spread((count,), how.scale, device)
    side = torch.where(torch.rand(count, device=device) < how.flip, -1.0, 1.0)
    theta = torch.zeros(count, dims, dims + 1, device=device)
    theta[:, 0, 0] = side * angle.cos()
    theta[:, 0, 1] = -angle.sin()
    theta[:, 1, 0] = side * angle.sin()
    theta[:, 1, 1] = angle.cos()
    if dims == 3:
        theta[:, 2, 2] = 1
    theta[:, :, :dims] *= size[:, None, None]
    return theta


def spread(shape: tuple[int, ...], most: float, device: torch.device) -> Tensor:
    """Uniform between −most and most."""
    return most * (2 * torch.rand(shape, device=device) - 1)
