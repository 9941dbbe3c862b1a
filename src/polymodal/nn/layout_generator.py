"""The generator of OC-GAN: image noise and a layout's condition to a picture (003, §6.3.3.1, Fig. B.1).

How wide its blocks are and where they double their maps is lost in the text; both are LostGAN's.
"""

import itertools
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from polymodal.base.errors import PolymodalError
from polymodal.nn.layout_conditioning import Condition, LayoutConditioning
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.layout_norms import SharedBatchNorm
from polymodal.nn.spectra import spectral_norm

BLOCKS = {32: 3, 64: 4, 128: 5, 256: 6}
"""Residual blocks by the size of the pictures (003, §6.3.3.1); three for small tries."""

START = 4
"""The side of the first maps."""

MOST = 16
"""The most maps, in widths."""

Norm = Callable[[int], nn.Module]
"""A conditional norm of so many maps."""


class LayoutGenerator(nn.Module):
    """Noise to 4×4 maps, and a residual block for each doubling up to the picture.

    Args:
        size: pixels of a side.
        width: maps of the last block; each block before it has twice as many, up to 16 times.
        noise: numbers of noise a picture has.
        conditioning: what makes a layout's condition.
        norm: makes a norm of so many maps.
        momentum: of the last batch norm.
    """

    def __init__(
        self,
        *,
        size: int,
        width: int,
        noise: int,
        conditioning: LayoutConditioning,
        norm: Norm,
        momentum: float,
    ) -> None:
        super().__init__()
        check_size(size)
        self.conditioning = conditioning
        widths = growing(size, width)
        self.first = widths[0]
        self.start = spectral_norm(nn.Linear(noise, self.first * START**2))
        self.blocks = nn.ModuleList(
            GeneratorBlock(wide, narrow, norm) for wide, narrow in itertools.pairwise(widths)
        )
        self.norm = SharedBatchNorm(width, momentum)
        self.scale = nn.Parameter(torch.ones(width, 1, 1))
        self.shift = nn.Parameter(torch.zeros(width, 1, 1))
        self.last = spectral_norm(nn.Conv2d(width, 3, 3, padding=1))

    def forward(
        self, layouts: Layouts, noise: Float[Tensor, "b z"], object_noise: Float[Tensor, "b o y"]
    ) -> Float[Tensor, "b 3 h w"]:
        """Pictures of values from −1 to 1."""
        condition = self.conditioning(layouts, object_noise)
        maps = self.start(noise).unflatten(1, (self.first, START, START))
        if maps.is_cuda:  # the order in which a GPU convolves fastest
            maps = maps.contiguous(memory_format=torch.channels_last)
        for block in self.blocks:
            maps = block(maps, condition)
        maps = torch.addcmul(self.shift, self.norm(maps), self.scale).relu()
        return self.last(maps).float().tanh()


class GeneratorBlock(nn.Module):
    """Norm, ReLU, doubling, convolution; norm, ReLU, convolution; around a shortcut (Fig. B.1 b).

    The shortcut is a 1×1 convolution where the number of maps changes, else the maps themselves.
    """

    def __init__(self, wide: int, narrow: int, norm: Norm) -> None:
        super().__init__()
        self.before, self.between = norm(wide), norm(narrow)
        self.first = spectral_norm(nn.Conv2d(wide, narrow, 3, padding=1))
        self.second = spectral_norm(nn.Conv2d(narrow, narrow, 3, padding=1))
        self.shortcut: nn.Module = nn.Identity()
        if wide != narrow:
            self.shortcut = spectral_norm(nn.Conv2d(wide, narrow, 1))

    def forward(
        self, maps: Float[Tensor, "b c h w"], condition: Condition
    ) -> Float[Tensor, "b k h2 w2"]:
        made = self.first(doubled(self.before(maps, condition).relu()))
        made = self.second(self.between(made, condition).relu())
        return made + doubled(self.shortcut(maps))


def doubled(maps: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h2 w2"]:
    """Each pixel four times."""
    return functional.interpolate(maps, scale_factor=2, mode="nearest")


def growing(size: int, width: int) -> list[int]:
    """The number of maps before the first block and after each.

    >>> growing(128, 64)
    [1024, 1024, 512, 256, 128, 64]
    >>> growing(32, 8)
    [64, 32, 16, 8]
    """
    after = [width * min(MOST, 2**left) for left in reversed(range(BLOCKS[size]))]
    return [width * min(MOST, 2 ** BLOCKS[size]), *after]


def check_size(size: int) -> None:
    """Refuse pictures for which there is no generator."""
    if size not in BLOCKS:
        near = min(BLOCKS, key=lambda known: abs(known - size))
        raise PolymodalError(
            f"Pictures are made from layouts at 32, 64, 128 or 256 pixels a side, but the data are "
            f"{size}×{size}. Add ',size={near}' to --data."
        )
