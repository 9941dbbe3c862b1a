"""Looks at pictures that differ as much as looks at one thing may: AMDIM's augmentations, on the device.

A window of any size and shape, mirrored or not, its colours changed or taken away (Bachman et al.,
2019, after their code: windows of 30 to 100 % of the picture, jitter of 0.4 in four of five, grey in
one of four; hue is left as it is).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample

GREY = (0.299, 0.587, 0.114)
"""How bright red, green and blue are (ITU-R BT.601)."""


class Looks(nn.Module):
    """In training a look at each picture, drawn anew; pictures have values in [0, 1].

    Args:
        size: pixels of a side of what is seen.
        area: the least share of the picture that a window has.
        jitter: how far from 1 brightness, contrast and saturation are multiplied.
        grey: how often all colour is taken away.
    """

    def __init__(
        self, size: int, area: float = 0.3, jitter: float = 0.4, grey: float = 0.25
    ) -> None:
        super().__init__()
        self.size, self.area, self.jitter, self.grey = size, area, jitter, grey

    def forward(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 k k"]:
        with torch.autocast(images.device.type, enabled=False):  # places rounded to bf16 would jump
            return self.coloured(self.windowed(images)).clamp(0, 1)

    def windowed(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 k k"]:
        """A window of each, of any area and of a shape from 3:4 to 4:3, mirrored half the time."""
        b = len(images)
        area = self.area + (1 - self.area) * chance(images, b)
        shape = torch.exp((2 * chance(images, b) - 1) * math.log(4 / 3))
        wide, high = ((area * shape).sqrt().clamp(max=1), (area / shape).sqrt().clamp(max=1))
        turn = torch.where(chance(images, b) < 0.5, -1.0, 1.0)
        across, down = ((2 * chance(images, b) - 1) * (1 - side) for side in (wide, high))
        none = torch.zeros_like(wide)
        rows = torch.stack([wide * turn, none, across, none, high, down], 1).unflatten(1, (2, 3))
        grid = affine_grid(rows, [b, 3, self.size, self.size], align_corners=False)
        return grid_sample(images, grid, padding_mode="border", align_corners=False)

    def coloured(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
        """Brighter or darker, with more contrast or less, more colour or less, or with none."""
        b = len(images)
        changed = chance(images, b, 1, 1, 1) < 0.8
        by = 1 + self.jitter * (2 * chance(images, 3, b, 1, 1, 1) - 1)
        jittered = images * by[0]
        middle = luminance(jittered).mean((2, 3), keepdim=True)
        jittered = middle + by[1] * (jittered - middle)
        light = luminance(jittered)
        jittered = torch.where(changed, light + by[2] * (jittered - light), images)
        grey = chance(images, b, 1, 1, 1) < self.grey
        return torch.where(grey, luminance(jittered), jittered)


def luminance(images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 1 h w"]:
    """How bright each pixel is."""
    red, green, blue = images.split(1, 1)
    return GREY[0] * red + GREY[1] * green + GREY[2] * blue


def chance(like: Tensor, *shape: int) -> Float[Tensor, "..."]:
    """Numbers between 0 and 1, on the same device."""
    return torch.rand(shape, device=like.device)
