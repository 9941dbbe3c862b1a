"""DiffAugment (Zhao et al., 2020): what discriminators see, changed at random so that gradients pass.

Colours, place and a square cut out, with the authors' strengths. What stands beside a picture, such as the
maps of its layout, is moved and cut as the picture is; only the picture's colours change.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

SHIFT = 1 / 8
"""By how much of a side a picture is moved at most."""

CUT = 1 / 2
"""The side of the square that is cut out."""


class DiffAugment(nn.Module):
    """Colour, translation and cutout, each picture by chances of its own."""

    def forward(self, seen: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        changed = torch.cat([recoloured(seen[:, :3]), seen[:, 3:]], 1)
        return cut_out(moved(changed))


def recoloured(pictures: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Brighter or darker by up to ½, of 0 to 2 times the saturation, of ½ to 1½ times the contrast."""
    brightness, saturation, contrast = pictures.new_empty(3, len(pictures), 1, 1, 1).uniform_()
    pictures = pictures + brightness - 0.5
    grey = pictures.mean(1, keepdim=True)
    pictures = grey + (pictures - grey) * 2 * saturation
    mean = pictures.mean((1, 2, 3), keepdim=True)
    return mean + (pictures - mean) * (contrast + 0.5)


def moved(seen: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
    """Moved by whole pixels, with zeros where nothing was."""
    b, _, h, w = seen.shape
    chance = torch.rand(b, 2, device=seen.device) * 2 - 1
    rows, columns = (
        torch.arange(side, device=seen.device) - shift(chance[:, k, None], side)
        for k, side in enumerate((h, w))
    )
    there = inside(rows, h)[:, None, :, None] & inside(columns, w)[:, None, None, :]
    item = torch.arange(b, device=seen.device)[:, None, None]
    places = rows.clamp(0, h - 1)[:, :, None], columns.clamp(0, w - 1)[:, None, :]
    return seen.permute(0, 2, 3, 1)[item, places[0], places[1]].permute(0, 3, 1, 2) * there


def shift(chance: Float[Tensor, "b 1"], side: int) -> Int[Tensor, "b 1"]:
    """Whole pixels by which a side is moved, of chances from −1 to 1: each as often as any other."""
    return (chance * (round(side * SHIFT) + 0.5)).round().long()


def cut_out(seen: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
    """With zeros in a square about any place, which may reach beyond the edges."""
    b, _, h, w = seen.shape
    middle = torch.rand(b, 2, device=seen.device)
    rows, columns = (
        ((torch.arange(side, device=seen.device) + 0.5) / side - middle[:, k, None]).abs() < CUT / 2
        for k, side in enumerate((h, w))
    )
    return seen * ~(rows[:, None, :, None] & columns[:, None, None, :])


def inside(places: Int[Tensor, "b n"], side: int) -> Bool[Tensor, "b n"]:
    """Which places are on a side."""
    return (places >= 0) & (places < side)
