"""Residual networks after CycleGAN's (Zhu et al., 2017): pictures to a vector and back (004, §5.1).

Convolutions are surrounded by reflections, not zeros; the first and the last are 7×7; three residual
blocks with instance norm work where the picture is an eighth of its size. Where it is large, maps are
few: half the width at full size, the width at a half, then twice and, in the blocks, three times it.
"""

import itertools

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import interpolate

from polymodal.errors import PolymodalError
from polymodal.nn.dense import Skip

SHRINK = 8
"""How much smaller a picture is in the residual blocks."""

MAPS, GRID = 10, 10
"""The decoder starts from 10 maps of 10×10, 1000 numbers; the encoder ends in as many maps."""


class ImageEncoder(nn.Module):
    """Pictures of values in [0, 1] to a vector: 7×7, three halvings, three blocks, 10 maps, a linear map."""

    def __init__(self, *, size: int, width: int = 32, code: int = 200) -> None:
        super().__init__()
        check(size, width)
        widths = growing(width)
        self.maps = nn.Sequential(
            convolution(3, widths[0], 7),
            *(halving(a, b) for a, b in itertools.pairwise(widths)),
            *(ResidualBlock(widths[-1]) for _ in range(3)),
            nn.Conv2d(widths[-1], MAPS, 1),
        )
        self.head = nn.Linear(MAPS * (size // SHRINK) ** 2, code)
        self.dim = code

    def forward(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b d"]:
        found: Tensor = self.head(self.maps(images).flatten(1))
        return found


class ImageDecoder(nn.Module):
    """A vector to the logits of a picture's likelihood: the encoder's way back.

    The paper does not say how its 10×10 becomes 112×112. Here the 10 maps are interpolated linearly
    to an eighth of the picture, and each doubling repeats every pixel before a 3×3 convolution, which
    leaves no checkerboard as a transposed convolution does (Odena et al., 2016).
    """

    def __init__(self, *, size: int, width: int = 32, code: int = 200, parameters: int = 3) -> None:
        super().__init__()
        check(size, width)
        widths = growing(width)[::-1]
        self.side = size // SHRINK
        self.start = nn.Linear(code, MAPS * GRID * GRID)
        self.maps = nn.Sequential(
            convolution(MAPS, widths[0], 3),
            *(ResidualBlock(widths[0]) for _ in range(3)),
            *(doubling(a, b) for a, b in itertools.pairwise(widths)),
            nn.Conv2d(widths[-1], parameters, 7, padding=3, padding_mode="reflect"),
        )

    def forward(self, code: Float[Tensor, "b d"]) -> Float[Tensor, "b p h w"]:
        start = self.start(code).unflatten(1, (MAPS, GRID, GRID))
        found: Tensor = self.maps(interpolate(start, (self.side, self.side), mode="bilinear"))
        return found


class ResidualBlock(Skip):
    """x + f(x), f two 3×3 convolutions with instance norm and a ReLU between them."""

    def __init__(self, width: int) -> None:
        super().__init__(
            convolution(width, width, 3),
            nn.Conv2d(width, width, 3, padding=1, padding_mode="reflect", bias=False),
            instance_norm(width),
        )


def convolution(narrow: int, wide: int, kernel: int) -> nn.Sequential:
    """A convolution among reflections, instance norm (which takes any bias off) and ReLU."""
    return nn.Sequential(
        nn.Conv2d(narrow, wide, kernel, padding=kernel // 2, padding_mode="reflect", bias=False),
        instance_norm(wide),
        nn.ReLU(),
    )


def halving(narrow: int, wide: int) -> nn.Sequential:
    """A 3×3 convolution of every other pixel, instance norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(narrow, wide, 3, stride=2, padding=1, bias=False), instance_norm(wide), nn.ReLU()
    )


def doubling(wide: int, narrow: int) -> nn.Sequential:
    """Each pixel four times, then a 3×3 convolution, instance norm and ReLU."""
    return nn.Sequential(nn.Upsample(scale_factor=2), convolution(wide, narrow, 3))


def instance_norm(width: int) -> nn.GroupNorm:
    """Instance norm, as groups of one map each: unlike torch's own it keeps the layout channels-last."""
    return nn.GroupNorm(width, width, affine=False)


def growing(width: int) -> tuple[int, int, int, int]:
    """The number of maps at each size, from the whole picture to its eighth."""
    return width // 2, width, 2 * width, 3 * width


def check(size: int, width: int) -> None:
    """Pictures must be halved three times and still hold something to normalise."""
    if size < 2 * SHRINK or size % SHRINK:
        raise PolymodalError(
            f"The residual networks take pictures of a multiple of {SHRINK} pixels a side, "
            f"{2 * SHRINK} or more, but the data are {size}×{size}. "
            f"Add ',size={max(round(size / SHRINK), 2) * SHRINK}' to --data."
        )
    if width < 2 or width % 2:
        raise PolymodalError(
            "The width of the residual networks is an even number of maps, 2 or more; "
            f"found {width}."
        )
