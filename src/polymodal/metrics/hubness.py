"""Hubness: a few items that are near every query push the right answers out.

The k-occurrence of an item is how many queries have it among their k first. Where every item is as
likely as any other it is binomial; hubs give it a long right tail, so its skewness tells of them.
"""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.maths.similarity import Measure, top_k, turned

BAD = 1.5
"""A skewness this far above chance is called by its name."""


@torch.no_grad()
def k_occurrence(
    measure: Measure, queries: Any, items: Any, k: int = 10, block: int | None = None
) -> Int[Tensor, " n"]:
    """How many queries have each item among their k first; items are scored by blocks.

    >>> from polymodal.maths.similarity import cosine
    >>> k_occurrence(cosine, torch.eye(3), torch.tensor([[1.0, 1, 1], [1, 0, 0], [-1, -1, -1]]), k=1)
    tensor([2, 1, 0])
    """
    _, places = top_k(measure, queries, items, k, block)
    return places.flatten().bincount(minlength=len(items))


def skewness(counts: Int[Tensor, " n"] | Float[Tensor, " n"]) -> float:
    """The third central moment in units of the standard deviation; 0 where nothing varies.

    >>> round(skewness(torch.tensor([0, 0, 0, 4])), 4)
    1.1547
    """
    away = counts.double() - counts.double().mean()
    variance = away.square().mean().item()
    return away.pow(3).mean().item() / variance**1.5 if variance else 0.0


def chance_skewness(queries: int, items: int, k: int) -> float:
    """The skewness of the k-occurrence if every query drew its k first at random: a binomial's.

    It is large where items are many for the queries, as captions are for images.
    """
    p = min(k, items) / items
    return (1 - 2 * p) / math.sqrt(queries * p * (1 - p)) if p < 1 else 0.0


def hubness(measure: Measure, images: Any, captions: Any, k: int = 10) -> dict[str, float]:
    """The skewness of the k-occurrence, of captions (i2t) and of images (t2i), with what it means.

    For each way: `hubness`, `hubness_chance` (its skewness without hubs), `hub` (the share of
    queries that have the most frequent item among their first k), `unseen` (the share of items that
    no query has there).
    """
    scores: dict[str, float] = {}
    ways = (("i2t", measure, images, captions), ("t2i", turned(measure), captions, images))
    for way, towards, queries, items in ways:
        counts = k_occurrence(towards, queries, items, k)
        scores[f"{way}_hubness"] = skewness(counts)
        scores[f"{way}_hubness_chance"] = chance_skewness(len(queries), len(items), k)
        scores[f"{way}_hub"] = counts.max().item() / len(queries)
        scores[f"{way}_unseen"] = (counts == 0).double().mean().item()
    return scores


def hubness_symptom(scores: dict[str, float]) -> str | None:
    """What the figures of `hubness` show, in plain words, if hubs stand in the way.

    >>> calm = {"hubness": 0.9, "hubness_chance": 0.7, "hub": 0.01, "unseen": 0.1}
    >>> print(hubness_symptom({f"{way}_{name}": x for way in ("i2t", "t2i") for name, x in calm.items()}))
    None
    """
    ill = []
    for way, item, query in (("i2t", "caption", "images"), ("t2i", "image", "captions")):
        skew, without = scores[f"{way}_hubness"], scores[f"{way}_hubness_chance"]
        if skew > without + BAD:
            ill.append(
                f"one {item} is among the first ten for {scores[f'{way}_hub']:.0%} of the {query}, and "
                f"{scores[f'{way}_unseen']:.0%} of the {item}s for none of them (skewness {skew:.1f}, "
                f"{without:.1f} without hubs)"
            )
    if not ill:
        return None
    return (
        f"There are hubs: {'; '.join(ill)}. Train longer; if they stay, try a larger --batch-size, "
        "another --loss or, for Gaussians, another --similarity."
    )
