"""How well scene graphs and pictures match: attention, local and global similarity (003, eq. 6.3.1–6.3.3).

Every picture of a batch is compared with every graph. Attended vectors (graphs × objects × pictures × d)
are never made: their cosines follow from the products of objects and places, and of places with places.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

from polymodal.nn.scene_graphs import GraphFeatures

BLOCK = 32
"""Graphs that are compared with all pictures at once."""

TINY = 1e-8
"""The least length by which a cosine divides."""


@dataclass(frozen=True)
class PictureFeatures:
    """Pictures as vectors: of each place and of the whole."""

    each: Float[Tensor, "m p d"]
    whole: Float[Tensor, "m d"]

    def __len__(self) -> int:
        return len(self.each)


def local_similarity(
    pictures: PictureFeatures, graphs: GraphFeatures, gamma1: float, gamma2: float
) -> Float[Tensor, "m n"]:
    """Sim^L of every picture m and graph n: (1/γ₂) log Σⱼ exp(γ₂ cos(g̃ⱼ, gⱼ)) (003, eq. 6.3.2)."""
    among = pictures.each @ pictures.each.mT
    columns = [
        of_block(pictures.each, among, each, there, gamma1, gamma2)
        for each, there in zip(graphs.each.split(BLOCK), graphs.there.split(BLOCK), strict=True)
    ]
    return torch.cat(columns, 1)


def of_block(
    places: Float[Tensor, "m p d"],
    among: Float[Tensor, "m p p"],
    objects: Float[Tensor, "n o d"],
    there: Bool[Tensor, "n o"],
    gamma1: float,
    gamma2: float,
) -> Float[Tensor, "m n"]:
    """The same for some graphs. `among` are the products of each picture's places with each other."""
    n, o, _ = objects.shape
    products = torch.einsum("mpd,kd->mkp", places, objects.flatten(0, 1))  # gⱼᵀ vᵢ
    weights = attention(products, gamma1)
    along = (weights * products).sum(-1)  # g̃ⱼᵀ gⱼ
    squared = ((weights @ among) * weights).sum(-1)  # |g̃ⱼ|²
    lengths = squared.clamp_min(TINY**2).sqrt() * objects.flatten(0, 1).norm(dim=-1)
    cosines = (along / lengths.clamp_min(TINY)).unflatten(1, (n, o))
    return (gamma2 * cosines).masked_fill(~there, -torch.inf).logsumexp(-1) / gamma2


def attention(products: Float[Tensor, "*k p"], gamma1: float) -> Float[Tensor, "*k p"]:
    """The weights of places (003, eq. 6.3.1) as they are written there: sᵢⱼ is γ₁ times a softmax over the
    places i', and the weights are a softmax of sᵢⱼ over the places again. (AttnGAN, whence it is, has the
    first softmax over the words.)"""
    scores = gamma1 * products.softmax(-1)
    return scores.softmax(-1)


def global_similarity(pictures: PictureFeatures, graphs: GraphFeatures) -> Float[Tensor, "m n"]:
    """Sim^G of every picture m and graph n: the cosine of their vectors (003, eq. 6.3.3)."""
    one, other = (normalize(side.whole, dim=-1, eps=TINY) for side in (pictures, graphs))
    return one @ other.T
