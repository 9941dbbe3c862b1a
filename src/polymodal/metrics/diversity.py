"""Diversity of the pictures that are generated for one text, so that correctness is not bought by collapse.

Each function takes s samples for each of n texts and gives one figure a text.
"""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

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


def several(samples: Shaped[Tensor, "n s ..."], what: str) -> int:
    """The number of samples a text, of which there must be two at least."""
    n, s = samples.shape[:2]
    if not n or s < 2:
        raise PolymodalError(
            f"{what} needs two samples or more of one text or more; found {s} of {n} texts."
        )
    return s
