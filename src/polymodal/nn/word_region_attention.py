"""Word–region attention: which regions of an image a word of its caption means (002, §2.3).

Scores of a word and an image are φ(R, w) = v_w(w)ᵀ Σᵢ a(rᵢ, w) v_r(rᵢ). Since φ is linear in the values,
it is Σᵢ a(rᵢ, w) v_w(w)ᵀv_r(rᵢ): two matrix products give a number for every word and region, and no
attended vector (words × images × d) is ever made.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


@dataclass(frozen=True)
class Words:
    """What attention asks with: a query and a value for each word."""

    query: Float[Tensor, "*n d"]
    value: Float[Tensor, "*n d"]


@dataclass(frozen=True)
class Regions:
    """What attention looks at: a key and a value for each region, and which rows are regions at all."""

    key: Float[Tensor, "b r d"]
    value: Float[Tensor, "b r d"]
    there: Bool[Tensor, "b r"]


class WordRegionAttention(nn.Module):
    """The four networks q_w, v_w, k_r, v_r, and the attention between them (002, eq. 6, 7).

    Args:
        words: the width of a word's representation.
        regions: the width of a region's features.
        dim: the width of queries, keys and values.
        hidden: hidden layers of each network, as wide as its input, with batch norm and ReLU.
    """

    def __init__(self, *, words: int, regions: int, dim: int = 384, hidden: int = 1) -> None:
        super().__init__()
        self.dim = dim
        self.query, self.word_value = mlp(words, dim, hidden), mlp(words, dim, hidden)
        self.key, self.region_value = mlp(regions, dim, hidden), mlp(regions, dim, hidden)

    def words(self, states: Float[Tensor, "n w"]) -> Words:
        """Queries and values of words."""
        return Words(self.query(states), self.word_value(states))

    def regions(self, features: Float[Tensor, "b r f"], there: Bool[Tensor, "b r"]) -> Regions:
        """Keys and values of regions; rows that are none take no part in a batch norm."""
        real = features[there]
        shape = (*there.shape, self.dim)
        key, value = self.key(real), self.region_value(real)
        return Regions(
            key.new_zeros(shape).masked_scatter(there[..., None], key),
            value.new_zeros(shape).masked_scatter(there[..., None], value),
            there,
        )


def mlp(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    """Hidden layers as wide as the input, each with batch norm and ReLU, and a linear one (002, §2.5)."""
    layers = [
        layer
        for _ in range(hidden)
        for layer in (nn.Linear(inputs, inputs), nn.BatchNorm1d(inputs), nn.ReLU())
    ]
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def across(words: Words, regions: Regions) -> tuple[Float[Tensor, "n b"], Float[Tensor, "n b r"]]:
    """φ of every word with every image, and the logits of its attention to the regions of each."""
    scaled = words.query / math.sqrt(words.query.shape[-1])
    logits = (scaled @ regions.key.flatten(0, 1).T).unflatten(-1, regions.there.shape)
    agreement = (words.value @ regions.value.flatten(0, 1).T).unflatten(-1, regions.there.shape)
    return attended(logits, agreement, regions.there)


def within(words: Words, regions: Regions) -> tuple[Float[Tensor, "b k"], Float[Tensor, "b k r"]]:
    """φ of k words of each image with that image alone, and the logits of their attention."""
    scaled = words.query / math.sqrt(words.query.shape[-1])
    logits = scaled @ regions.key.mT
    agreement = words.value @ regions.value.mT
    return attended(logits, agreement, regions.there[:, None])


def attended(
    logits: Float[Tensor, "*n r"], agreement: Float[Tensor, "*n r"], there: Bool[Tensor, "..."]
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n r"]]:
    """Σᵢ aᵢ agreementᵢ with a = softmax(logits) (002, eq. 6, 7), in float32; logits of no region are −∞."""
    logits = logits.float().masked_fill(~there, -torch.inf)
    return (logits.softmax(-1) * agreement.float()).sum(-1), logits
