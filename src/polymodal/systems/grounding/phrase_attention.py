"""From the attention of tokens to that of phrases (002, §2.5, 'Attention to phrase grounding')."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.data.caption_tokens import CaptionTokens
from polymodal.systems.grounding.phrases import Phrases

Told = Literal["all", "content"]
"""Which tokens of a phrase tell where it is: all, or its nouns and adjectives alone."""


def of_phrases(
    attention: Float[Tensor, "c t r"],
    phrases: Phrases,
    captions: CaptionTokens,
    rows: slice,
    told: Told,
) -> Float[Tensor, "p r"]:
    """The attention of all phrases of the captions `rows`, whose tokens' attention is given."""
    mine = (phrases.caption >= rows.start) & (phrases.caption < rows.stop)
    caption = phrases.caption[mine]
    tokens = telling(phrases.tokens[mine], captions.kinds[caption], told)
    return most_attended(attention[caption - rows.start], tokens)


def most_attended(
    attention: Float[Tensor, "p t r"], tokens: Bool[Tensor, "p t"]
) -> Float[Tensor, "p r"]:
    """Of each region, the most that one of a phrase's tokens attends to it."""
    return attention.masked_fill(~tokens[..., None], 0.0).amax(1)


def telling(
    tokens: Bool[Tensor, "p t"], kinds: Int[Tensor, "p t"], told: Told
) -> Bool[Tensor, "p t"]:
    """The tokens of phrases that count; all where a phrase has neither noun nor adjective.

    >>> telling(torch.tensor([[True, True]]), torch.tensor([[0, 1]]), "content")
    tensor([[False,  True]])
    """
    if told == "all":
        return tokens
    content = tokens & (kinds > 0)
    return torch.where(content.any(1, keepdim=True), content, tokens)
