"""A small residual network for crops of objects, trained from scratch."""

import itertools

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.nn.feature_networks import Seen
from polymodal.nn.image_encoders import Residual

SIDE = 32
"""Pixels of a crop's side."""


class CropNet(nn.Module):
    """Crops to features, and by a linear layer to classes; group norm, so that no crop sees its batch.

    Args:
        width: maps at the full size, a multiple of 8; they double whenever the size is halved.
        dim: features.
        classes: how many.
    """

    def __init__(self, *, width: int, dim: int, classes: int) -> None:
        super().__init__()
        widths = [width * 2**i for i in range(4)]
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.stages = nn.ModuleList(Residual(a, b) for a, b in itertools.pairwise(widths))
        self.normed = nn.Sequential(nn.GroupNorm(8, widths[-1]), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(2 * widths[-1], dim), nn.ReLU())
        self.classifier = nn.Linear(dim, classes)
        self.dim = dim

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> Seen:
        """What it makes of values from 0 to 255; what is where it is sure and what is all over count."""
        x, maps = self.stem(pixels / 127.5 - 1), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        x = self.normed(x)
        features = self.head(torch.cat([x.amax((2, 3)), x.mean((2, 3))], 1))
        return Seen(features, self.classifier(features), maps)


class CropFeatures(nn.Module):
    """The features and maps alone: the classes of crops say nothing of a whole picture."""

    def __init__(self, net: CropNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> Seen:
        seen: Seen = self.net(pixels)
        return Seen(seen.features, None, seen.maps)
