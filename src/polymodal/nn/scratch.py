"""Image encoders small enough to be trained from nothing (003, Tables A.2 and A.3).

What an encoder sees at a place is its local features, the maps after its third layer; what it makes of
the whole picture is its global feature. Pictures are 128×128, crops of them 112×112 (003, A.2).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError

LOCAL = 3
"""After how many layers the local features are taken."""


@dataclass(frozen=True)
class Features:
    """What an encoder gives: `whole`, `local` of each place, and `last` before the maps are flattened."""

    whole: Float[Tensor, "b d"]
    local: Float[Tensor, "b c h w"]
    last: Float[Tensor, "b c2 h2 w2"]
    unpooled: Float[Tensor, "b c2 h3 w3"]
    """`last` before the last pooling; where there is none, `last` itself."""
    seen: Float[Tensor, "b 3 h4 w4"]
    """What was encoded."""


@dataclass(frozen=True)
class Window:
    """What one place of some maps sees: squares of `size` pixels, `step` apart, the first from `start`."""

    size: int = 1
    step: int = 1
    start: int = 0

    def through(self, layer: nn.Module) -> "Window":
        """The same after one more layer; one that looks at single pixels changes nothing."""
        if not isinstance(layer, nn.Conv2d | nn.MaxPool2d):
            return self
        kernel, stride, padding = (
            number if isinstance(number, int) else int(number[0])
            for number in (layer.kernel_size, layer.stride, layer.padding)
        )
        return Window(
            size=self.size + (kernel - 1) * self.step,
            step=self.step * stride,
            start=self.start - padding * self.step,
        )


class Encoder(nn.Module):
    """Layers of convolutions, then of linear maps; each with batch norm and ReLU, some with pooling.

    Args:
        layers: the convolutional layers.
        pools: the pooling after each, or none.
        dense: the widths of the linear layers; the last is the global feature's, after its ReLU.
        size: pixels of a side of what is encoded.
        dropout: share of the numbers that are left out before each linear layer.
    """

    def __init__(
        self,
        layers: Sequence[nn.Conv2d],
        pools: Sequence[nn.MaxPool2d | None],
        dense: Sequence[int],
        size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(layer, nn.BatchNorm2d(layer.out_channels), nn.ReLU()) for layer in layers
        )
        self.pools = nn.ModuleList(nn.Identity() if pool is None else pool for pool in pools)
        side = self.side(size)
        widths = [layers[-1].out_channels * side * side, *dense]
        self.dense = nn.Sequential()
        for wide, narrow in itertools.pairwise(widths):
            block = nn.Sequential(
                nn.Dropout(dropout),
                nn.Linear(wide, narrow, bias=False),
                nn.BatchNorm1d(narrow),
                nn.ReLU(),
            )
            self.dense.append(block)
        self.size, self.dim = size, dense[-1]
        self.local_dim, self.last_dim = layers[LOCAL - 1].out_channels, layers[-1].out_channels
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # as pictures are

    def forward(self, images: Float[Tensor, "b 3 h w"]) -> Features:
        maps = unpooled = local = images
        for number, (layer, pool) in enumerate(zip(self.layers, self.pools, strict=True), start=1):
            unpooled = layer(maps)
            maps = pool(unpooled)
            if number == LOCAL:
                local = maps
        return Features(self.dense(maps.flatten(1)), local, maps, unpooled, images)

    def side(self, size: int, layers: int | None = None) -> int:
        """How many places a side has after some layers, or all."""
        for parts in self.looking()[:layers]:
            for part in parts:
                seen = Window().through(part)
                size = (size - 2 * seen.start - seen.size) // seen.step + 1
        if size < 1:
            raise PolymodalError(
                "The pictures are too small for this encoder: nothing is left of them after its "
                "poolings. Take larger ones."
            )
        return size

    def window(self, layers: int = LOCAL, pooled: bool = True) -> Window:
        """What a place sees after some layers, with the pooling of the last of them or without."""
        parts = [part for each in self.looking()[:layers] for part in each]
        seen = Window()
        for part in parts if pooled else parts[:-1]:
            seen = seen.through(part)
        return seen

    def looking(self) -> list[tuple[nn.Module, nn.Module]]:
        """The convolution and the pooling of each layer."""
        convolutions = (part for part in self.modules() if isinstance(part, nn.Conv2d))
        return list(zip(convolutions, self.pools, strict=True))


def basic(size: int = 112, dim: int = 1024, slim: int = 1, dropout: float = 0.0) -> Encoder:
    """The encoder after DCGAN: five convolutions of 4×4 about every other pixel (003, Table A.2).

    With `slim`, so many times fewer maps.
    """
    widths = (3, *thinned((64, 128, 256, 512, 1024), slim))
    layers = [nn.Conv2d(a, b, 4, 2, 1, bias=False) for a, b in itertools.pairwise(widths)]
    return Encoder(layers, [None] * len(layers), [dim], size, dropout)


def alex(
    size: int = 112, dim: int = 1024, hidden: int = 4096, slim: int = 1, dropout: float = 0.0
) -> Encoder:
    """The encoder after AlexNet: six convolutions of 3×3, four poolings (003, Table A.3).

    The table ends in two linear layers of 4096, the text in a feature of 1024 for all models (A.2):
    here the last of the two has `dim`. With `slim`, so many times fewer maps and hidden units.
    """
    widths = (3, *thinned((96, 192, 384, 384, 192, 192), slim))
    layers = [nn.Conv2d(a, b, 3, 1, 1, bias=False) for a, b in itertools.pairwise(widths)]
    pools = [nn.MaxPool2d(3, 2) if pooled else None for pooled in (1, 1, 0, 0, 1, 1)]
    return Encoder(layers, pools, [hidden // slim, dim], size, dropout)


def thinned(widths: Sequence[int], slim: int) -> list[int]:
    """So many times fewer maps of each layer.

    >>> thinned((64, 128), 16)
    [4, 8]
    """
    slimmer = [width // slim for width in widths]
    if not all(slimmer):
        raise PolymodalError(f"Of {min(widths)} maps none is left, {slim} times fewer.")
    return slimmer
