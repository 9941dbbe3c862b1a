"""U-Nets in two and three dimensions (Ronneberger et al., 2015), encoder and decoder apart.

So several encoders can share one decoder: a map of each level is all that passes between them.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, max_pool3d, pad

from polymodal.base.errors import PolymodalError

Maps = list[Float[Tensor, "b _ ..."]]
"""A map of each level, the finest first; each side is half that of the level before."""

GROUPS = 8
"""Groups of maps that are normalised together, at most: nothing depends on the batch. All maps as one
group learn badly, so widths should be multiples of 4 or 8."""


def widths_of(width: int, levels: int, most: int = 256) -> list[int]:
    """The maps of each level: twice as many at each, up to a limit.

    >>> widths_of(32, 5)
    [32, 64, 128, 256, 256]
    """
    return [min(width * 2**level, most) for level in range(levels)]


def convolutions(dims: int, inputs: int, outputs: int) -> nn.Sequential:
    """Two 3×3 convolutions, each with group norm and ReLU."""
    conv = convolution(dims)
    layers: list[nn.Module] = []
    for own in (inputs, outputs):
        layers += [
            conv(own, outputs, 3, padding=1, bias=False),
            nn.GroupNorm(math.gcd(GROUPS, outputs), outputs),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers)


def convolution(dims: int) -> type[nn.Conv2d] | type[nn.Conv3d]:
    """The convolution of planes or of volumes."""
    if dims not in (2, 3):
        raise PolymodalError(f"A U-Net is for 2 or 3 dimensions, not {dims}.")
    return nn.Conv2d if dims == 2 else nn.Conv3d


class UNetEncoder(nn.Module):
    """The way down: a map of each level."""

    def __init__(self, *, dims: int, inputs: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.pool = max_pool2d if dims == 2 else max_pool3d
        self.levels = nn.ModuleList(
            convolutions(dims, own, width)
            for own, width in zip([inputs, *widths], widths, strict=False)
        )

    def forward(self, scan: Float[Tensor, "b c *grid"]) -> Maps:
        """The maps of a scan whose sides can be halved once a level."""
        found: Maps = []
        for level in self.levels:
            found.append(level(self.pool(found[-1], 2) if found else scan))
        return found


class UNetDecoder(nn.Module):
    """The way up, from maps of any widths to the logits of each place."""

    def __init__(
        self, *, dims: int, inputs: Sequence[int], widths: Sequence[int], outputs: int
    ) -> None:
        super().__init__()
        turned = nn.ConvTranspose2d if dims == 2 else nn.ConvTranspose3d
        below = [*widths[1:-1], inputs[-1]]
        self.up = nn.ModuleList(
            turned(own, width, 2, stride=2) for own, width in zip(below, widths[:-1], strict=True)
        )
        self.levels = nn.ModuleList(
            convolutions(dims, own + width, width)
            for own, width in zip(inputs[:-1], widths[:-1], strict=True)
        )
        self.head = convolution(dims)(widths[0], outputs, 1)

    def forward(self, maps: Maps) -> Float[Tensor, "b k ..."]:
        """The logits of each class at each place of the finest map."""
        found = maps[-1]
        for own, up, level in zip(
            reversed(maps[:-1]), reversed(self.up), reversed(self.levels), strict=True
        ):
            found = level(torch.cat([own, up(found)], 1))
        logits: Tensor = self.head(found)
        return logits


def divisible(scan: Float[Tensor, "b c *grid"], levels: int) -> Float[Tensor, "b c *wider"]:
    """A scan with its last rows repeated until every side can be halved at each level.

    >>> divisible(torch.zeros(1, 1, 5, 8), 3).shape
    torch.Size([1, 1, 8, 8])
    """
    step = 2 ** (levels - 1)
    more = [-side % step for side in scan.shape[2:]]
    if not any(more):
        return scan
    return pad(scan, [n for own in reversed(more) for n in (0, own)], mode="replicate")


def cropped(logits: Float[Tensor, "b k *wider"], grid: Sequence[int]) -> Float[Tensor, "b k *grid"]:
    """Logits without what `divisible` added."""
    for axis, side in enumerate(grid, 2):
        logits = logits.narrow(axis, 0, side)
    return logits
