"""Pictures and parts of them at one size, by one rule, whatever looks at them.

Every measure of generated pictures resamples here: figures that differ by how pictures were resized
cannot be compared (LostGAN's FID moved from 30.7 to 24.8 by how its pictures were saved).
"""

import contextlib
from collections.abc import Iterator

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from polymodal.base.hardware import products

RULE = "bilinear, antialiased, of bytes as floats, not rounded"
"""How pictures get another size, for the protocol of a result."""

CUT = "all pixels that a box touches"
"""Which pixels are a box's, for the protocol of a result."""

SLACK = 1e-3
"""A share of a pixel that a box may reach into by rounding."""


def resized(pictures: UInt8[Tensor, "b h w 3"], side: int) -> Float[Tensor, "b 3 side side"]:
    """Whole pictures at side × side, of values from 0 to 255."""
    whole = torch.tensor([[0.0, 0, 1, 1]], device=pictures.device).expand(len(pictures), 4)
    return crops(pictures, whole, torch.arange(len(pictures), device=pictures.device), side)


def crops(
    pictures: UInt8[Tensor, "b h w 3"],
    boxes: Float[Tensor, "n 4"],
    owner: Int[Tensor, " n"],
    side: int,
) -> Float[Tensor, "n 3 side side"]:
    """Parts of pictures at side × side, each as if it had been cut out and were a picture of its own.

    The same as torch's antialiased `interpolate` of each cut, but for all at once: rows and columns
    are weighed by two matrices of each box.

    Args:
        pictures: as bytes.
        boxes: x0, y0, x1, y1 in sides of the picture.
        owner: the picture that each box is of.
        side: pixels of a side.
    """
    _, height, width, _ = pictures.shape
    down = weights(boxes[:, 1], boxes[:, 3], height, side)
    across = weights(boxes[:, 0], boxes[:, 2], width, side)
    pixels = pictures.permute(0, 3, 1, 2)[owner].float()
    with full_precision(pictures.device):
        return down[:, None] @ pixels @ across.transpose(1, 2)[:, None]


def weights(
    low: Float[Tensor, " n"], high: Float[Tensor, " n"], length: int, side: int
) -> Float[Tensor, "n side length"]:
    """How much each of a line's pixels counts for each of `side` pixels that a part of it becomes.

    A triangle about the place of the new pixel, as wide as that pixel or, where pixels become more, as
    an old one.
    """
    first = (low.float() * length + SLACK).floor().clamp(0, length - 1)[:, None, None]
    last = (high.float() * length - SLACK).ceil().clamp(max=length)[:, None, None]
    count = (last - first).clamp(min=1)
    scale = count / side
    old = torch.arange(length, device=low.device) + 0.5 - first
    new = (torch.arange(side, device=low.device)[:, None] + 0.5) * scale
    height = (1 - (old - new).abs() / scale.clamp(min=1)).clamp(min=0)
    height = height * ((old > 0) & (old < count))
    return height / height.sum(2, keepdim=True)


@contextlib.contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Products and convolutions in float32, whatever training goes on around a measure: neither bfloat16
    nor a GPU's TF32."""
    exact = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    with torch.autocast(device.type, enabled=False), products("highest"), exact:
        yield
