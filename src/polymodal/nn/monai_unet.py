"""MONAI's basic U-Net (Falk et al., 2019), encoder and decoder apart as ours are, from its own blocks."""

import importlib
from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.unet import Maps, convolution

STYLE: dict[str, Any] = {
    "act": ("LeakyReLU", {"negative_slope": 0.1, "inplace": True}),
    "norm": ("instance", {"affine": True}),
    "bias": True,
}
"""What MONAI's network has by default."""


def blocks() -> Any:
    """MONAI's module of blocks, or an error that says how to get it."""
    try:
        return importlib.import_module("monai.networks.nets.basic_unet")
    except ImportError as error:
        raise PolymodalError(
            f"--unet monai needs MONAI, which cannot be imported ({error}). Install it with: "
            "pip install 'polymodal[medical]'; or take --unet ours."
        ) from error


class MonaiEncoder(nn.Module):
    """The way down: a map of each level."""

    def __init__(self, *, dims: int, inputs: int, widths: Sequence[int]) -> None:
        super().__init__()
        made = blocks()
        pairs = zip([inputs, *widths], widths, strict=False)
        self.levels = nn.ModuleList(
            (made.Down if level else made.TwoConv)(dims, own, width, **STYLE)
            for level, (own, width) in enumerate(pairs)
        )

    def forward(self, scan: Float[Tensor, "b c *grid"]) -> Maps:
        """The maps of a scan whose sides can be halved once a level."""
        found: Maps = []
        for level in self.levels:
            found.append(level(found[-1] if found else scan))
        return found


class MonaiDecoder(nn.Module):
    """The way up, from maps of any widths to the logits of each place."""

    def __init__(
        self, *, dims: int, inputs: Sequence[int], widths: Sequence[int], outputs: int
    ) -> None:
        super().__init__()
        made = blocks()
        below = [*widths[1:-1], inputs[-1]]
        self.levels = nn.ModuleList(
            made.UpCat(dims, under, own, width, **STYLE, halves=False)
            for under, own, width in zip(below, inputs[:-1], widths[:-1], strict=True)
        )
        self.head = convolution(dims)(widths[0], outputs, 1)

    def forward(self, maps: Maps) -> Float[Tensor, "b k ..."]:
        """The logits of each class at each place of the finest map."""
        found = maps[-1]
        for own, level in zip(reversed(maps[:-1]), reversed(self.levels), strict=True):
            found = level(found, own)
        logits: Tensor = self.head(found)
        return logits
