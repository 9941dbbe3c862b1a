"""Augmentation on the device, of uint8 pictures by the batch."""

import torch
from jaxtyping import UInt8
from torch import Tensor, nn


class RandomCrop(nn.Module):
    """In training a square window of `ratio` of the side, anywhere, flipped half the time if asked;
    in testing the middle one, unflipped."""

    def __init__(self, ratio: float = 1.0, flip: bool = False) -> None:
        super().__init__()
        self.ratio, self.flip = ratio, flip

    def forward(self, images: UInt8[Tensor, "b 3 h w"]) -> UInt8[Tensor, "b 3 k l"]:
        b, _, height, width = images.shape
        high, wide = round(height * self.ratio), round(width * self.ratio)
        device = images.device
        if not self.training:
            top, left = (height - high) // 2, (width - wide) // 2
            return images[:, :, top : top + high, left : left + wide]
        if self.ratio == 1 and not self.flip:
            return images
        rows = torch.randint(height - high + 1, (b, 1), device=device) + torch.arange(
            high, device=device
        )
        cols = torch.randint(width - wide + 1, (b, 1), device=device) + torch.arange(
            wide, device=device
        )
        if self.flip:
            cols = torch.where(torch.rand(b, 1, device=device) < 0.5, cols.flip(1), cols)
        batch = torch.arange(b, device=device)[:, None, None]
        return images.permute(0, 2, 3, 1)[batch, rows[:, :, None], cols[:, None, :]].permute(
            0, 3, 1, 2
        )
