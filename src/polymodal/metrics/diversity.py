"""Diversity of pictures generated for one text or layout, so that correctness is not bought by collapse.

Each function takes s samples for each of n texts or layouts and gives one figure for each.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.functional import normalize

from polymodal.base.errors import PolymodalError

NUMBERS = 2**24
"""How many values are sorted at once."""


def picture_distance(pictures: Shaped[Tensor, "n s c h w"]) -> Float[Tensor, " n"]:
    """The mean absolute difference of two samples, over all pairs, pixels and channels; 1 is the most.

    Pictures are floats in [0, 1] or bytes. Σ_{i<j} |xᵢ − xⱼ| = Σₖ (2k − s − 1) x₍ₖ₎ of the sorted
    values, so that no pair is ever formed.

    >>> picture_distance(torch.tensor([0.0, 0.5, 1.0]).reshape(1, 3, 1, 1, 1))
    tensor([0.6667])
    """
    s = several(pictures, "A distance between pictures")
    weights = 2 * torch.arange(1, s + 1, device=pictures.device) - s - 1
    total = torch.zeros(len(pictures), device=pictures.device)
    for channel, row in zip(pictures.flatten(2), total, strict=True):
        for pixels in channel.split(max(NUMBERS // s, 1), 1):
            values = pixels / 255 if pixels.dtype == torch.uint8 else pixels.float()
            row += (weights[:, None] * values.sort(0).values).sum()
    return total / (s * (s - 1) / 2 * pictures[0, 0].numel())


def place_spread(places: Float[Tensor, "n s o 2"]) -> Float[Tensor, " n"]:
    """How far an object lies from its mean place over the samples: √E‖p − E p‖² over samples and objects.

    Places are in sides of the picture, as `nn.word_readers` reads them.

    >>> place_spread(torch.tensor([[0.0, 0.0], [0.6, 0.8]]).reshape(1, 2, 1, 2))
    tensor([0.7071])
    """
    several(places, "A spread of places")
    return places.float().var(1).sum(-1).mean(-1).sqrt()


def feature_distance(layers: Sequence[Float[Tensor, "n s _ *_"]]) -> Float[Tensor, " n"]:
    """How differently a network sees two samples: LPIPS (Zhang et al., 2018) without its learned weights.

    The squared distance of unit-normalised features, its mean over places, pairs of samples and layers:
    0 for samples that look alike, 2 for features that are orthogonal. Σ_{i<j} ‖xᵢ − xⱼ‖² =
    s Σ ‖xᵢ‖² − ‖Σ xᵢ‖², so that no pair is ever formed.

    Args:
        layers: maps n s c h w of a feature network, of several of its layers.

    >>> feature_distance([torch.eye(2).reshape(1, 2, 2, 1, 1)])
    tensor([2.])
    """
    if not layers:
        raise PolymodalError(
            "A distance of features needs the maps of one layer or more; found none."
        )
    own = []
    for maps in layers:
        s = several(maps, "A distance of features")
        unit = normalize(maps.float(), dim=2, eps=1e-10)
        summed = s * unit.square().sum((1, 2)) - unit.sum(1).square().sum(1)
        own.append(summed.flatten(1).mean(1) / (s * (s - 1) / 2))
    return torch.stack(own).mean(0).clamp(min=0)


def several(samples: Shaped[Tensor, "n s ..."], what: str) -> int:
    """The number of samples of each, of which there must be two at least."""
    n, s = samples.shape[:2]
    if not n or s < 2:
        raise PolymodalError(
            f"{what} needs two samples or more of one text or layout; found {s} of {n}."
        )
    return s
