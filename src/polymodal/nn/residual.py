"""Residual networks after CycleGAN's (Zhu et al., 2017): pictures to a vector and back (004, §5.1).

Three residual blocks with instance norm work where the picture is an eighth or a quarter of its size.
No maps are of its whole size, where they would cost most and hold least: four pixels, side by side,
are the first and the last maps of one (Shi et al., 2016). Maps are as many as the width at half the
size, twice as many at a quarter and three times as many at an eighth.
"""

import itertools

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import conv2d, interpolate, pad, pixel_unshuffle

from polymodal.base.errors import PolymodalError
from polymodal.nn.dense import Skip

BLOCK = 2
"""The side of the squares of pixels that are maps of one pixel."""

EIGHT = 8
"""A GPU multiplies faster where the number of maps is a multiple of this."""

EIGHTS = 16
"""Maps of a square of pixels: 12, and zeros up to a multiple of eight."""

EPSILON = 1e-5
"""What is added to a variance before it divides."""

MAPS, GRID = 10, 10
"""The decoder starts from 10 maps of 10×10, 1000 numbers."""


class ImageEncoder(nn.Module):
    """Pictures of values in [0, 1] to a vector: halvings, three blocks, some maps, a linear map.

    Args:
        size: pixels of a side.
        width: maps where the picture is half its size.
        code: the width of the vector.
        shrink: how much smaller a picture is in the blocks, 4 or 8.
        ends: maps that are flattened; the paper does not say how many.
    """

    def __init__(
        self, *, size: int, width: int = 32, code: int = 200, shrink: int = 8, ends: int = MAPS
    ) -> None:
        super().__init__()
        check_sizes(size, width, shrink)
        widths = growing(width, shrink)
        self.maps = nn.Sequential(
            Squares(),
            convolution(EIGHTS, widths[0]),
            *(halving(a, b) for a, b in itertools.pairwise(widths)),
            *(ResidualBlock(widths[-1]) for _ in range(3)),
            Convolution(widths[-1], ends, 1),
        )
        self.size = size
        self.head = nn.Linear(ends * (size // shrink) ** 2, code)
        self.dim = code

    def forward(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b d"]:
        code: Tensor = self.head(self.maps(images).flatten(1))
        return code


class ImageDecoder(nn.Module):
    """A vector to the logits of a picture's likelihood: the encoder's way back.

    The paper does not say how its 10×10 becomes 112×112. Here the 10 maps are interpolated linearly
    to the size of the blocks, and each doubling lays four maps of a pixel side by side, as the
    encoder took four pixels for maps.
    """

    def __init__(
        self,
        *,
        size: int,
        width: int = 32,
        code: int = 200,
        shrink: int = 8,
        parameters: int = 3,
    ) -> None:
        super().__init__()
        check_sizes(size, width, shrink)
        widths = growing(width, shrink)[::-1]
        self.side = size // shrink
        self.start = nn.Linear(code, MAPS * GRID * GRID)
        self.maps = nn.Sequential(
            convolution(MAPS, widths[0]),
            *(ResidualBlock(widths[0]) for _ in range(3)),
            *(doubling(a, b) for a, b in itertools.pairwise(widths)),
            Convolution(widths[-1], parameters * BLOCK**2, 3, padding=1),
            nn.PixelShuffle(BLOCK),
        )

    def forward(self, code: Float[Tensor, "b d"]) -> Float[Tensor, "b p h w"]:
        start = self.start(code).unflatten(1, (MAPS, GRID, GRID))
        logits: Tensor = self.maps(interpolate(start, (self.side, self.side), mode="bilinear"))
        return logits


class Squares(nn.Module):
    """Squares of pixels to maps of one pixel, and maps of zeros; values of [0, 1] to [−1, 1].

    Among those bf16 has one for every byte, at (u + ½)/256. In [½, 1] it rounds two bytes to one, and
    a model that sees so in training sees other pictures in use.
    """

    def forward(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b m h2 w2"]:
        blocks = pixel_unshuffle(2 * images - 1, BLOCK)
        return pad(blocks, (0, 0, 0, 0, 0, EIGHTS - blocks.shape[1]))


class Convolution(nn.Conv2d):
    """A convolution that reckons with maps of zeros where they are not a multiple of eight."""

    def forward(self, maps: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c2 h2 w2"]:
        more, extra = -self.in_channels % EIGHT, -self.out_channels % EIGHT
        weight = pad(self.weight, (0, 0, 0, 0, 0, more, 0, extra))
        bias = None if self.bias is None else pad(self.bias, (0, extra))
        maps = pad(maps, (0, 0, 0, 0, 0, more))
        return conv2d(maps, weight, bias, self.stride, self.padding)[:, : self.out_channels]


class ResidualBlock(Skip):
    """x + f(x), f two 3×3 convolutions with instance norm and a ReLU between them."""

    def __init__(self, width: int) -> None:
        super().__init__(
            convolution(width, width),
            Convolution(width, width, 3, padding=1, bias=False),
            InstanceNorm(),
        )


def convolution(narrow: int, wide: int, stride: int = 1) -> nn.Sequential:
    """A 3×3 convolution, instance norm (which takes any bias off) and ReLU."""
    return nn.Sequential(
        Convolution(narrow, wide, 3, stride=stride, padding=1, bias=False),
        InstanceNorm(),
        nn.ReLU(),
    )


def halving(narrow: int, wide: int) -> nn.Sequential:
    """A convolution about every other pixel."""
    return convolution(narrow, wide, stride=2)


def doubling(wide: int, narrow: int) -> nn.Sequential:
    """A 3×3 convolution to four times the maps, laid side by side, instance norm and ReLU."""
    maps = Convolution(wide, BLOCK**2 * narrow, 3, padding=1, bias=False)
    return nn.Sequential(maps, nn.PixelShuffle(BLOCK), InstanceNorm(), nn.ReLU())


class InstanceNorm(nn.Module):
    """Each map of each picture at mean 0 and variance 1, by float32 sums whatever the maps are.

    Torch's own moves a GPU's maps out of the layout channels-last and back.
    """

    def forward(self, maps: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        wide = maps.to(torch.promote_types(maps.dtype, torch.float32))
        var, mean = torch.var_mean(wide, (2, 3), correction=0, keepdim=True)
        return ((wide - mean) * (var + EPSILON).rsqrt()).to(maps.dtype)


def growing(width: int, shrink: int) -> list[int]:
    """The number of maps at each size, from half the picture's to that of the blocks.

    >>> growing(32, 8)
    [32, 64, 96]
    """
    return [width * times for times in range(1, shrink.bit_length())]


def check_sizes(size: int, width: int, shrink: int) -> None:
    """Pictures must be halved some times and still hold something to normalise."""
    if shrink not in (4, 8):
        raise PolymodalError(f"Pictures are 4 or 8 times smaller in the blocks, not {shrink}.")
    if size < 2 * shrink or size % shrink:
        raise PolymodalError(
            f"The residual networks take pictures of a multiple of {shrink} pixels a side, "
            f"{2 * shrink} or more, but the data are {size}×{size}. "
            f"Add ',size={max(round(size / shrink), 2) * shrink}' to --data."
        )
    if width < 1:
        raise PolymodalError(f"The width of the residual networks is 1 map or more; found {width}.")
