"""Which tokens of a caption a masked language model must tell (BERT, §3.1)."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Masked:
    """Captions with some tokens hidden, and where these are."""

    tokens: Int[Tensor, "b t"]
    places: Bool[Tensor, "b t"]


def hide(
    tokens: Int[Tensor, "b t"],
    ordinary: Bool[Tensor, " v"],
    *,
    mask: int,
    share: float,
    generator: torch.Generator | None = None,
) -> Masked:
    """Choose a share of each caption's tokens, one at least, and hide them.

    Of these 80 % become the mask, 10 % some other token, and 10 % stay as they are: so the model must
    tell what stands at a place whether it sees a mask there or a word.

    Args:
        tokens: the captions, padded.
        ordinary: which tokens of the vocabulary may be chosen and take another's place: not those for
            padding, ends, masks and unknown words.
        mask: the token that hides another.
        share: which share of the ordinary tokens is chosen.
        generator: where random numbers come from; by default torch's own.
    """

    def noise() -> Float[Tensor, "b t"]:
        return torch.rand(tokens.shape, device=tokens.device, generator=generator)

    able = ordinary[tokens]
    count = (share * able.sum(1)).round().clamp(min=1)
    rank = noise().masked_fill(~able, 2.0).argsort(1).argsort(1)
    places = (rank < count[:, None]) & able
    fate, words = noise(), ordinary.nonzero()[:, 0]
    others = words[(noise() * len(words)).long()]
    hidden = torch.where(fate < 0.8, mask, torch.where(fate < 0.9, others, tokens))
    return Masked(torch.where(places, hidden, tokens), places)
