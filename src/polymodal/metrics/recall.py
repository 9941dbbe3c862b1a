"""Image–caption retrieval: recall at 1, 5 and 10, median and mean rank, both ways, in folds (001 §3.1)."""

import math
from typing import Any

from jaxtyping import Int
from torch import Tensor

from polymodal.maths.similarity import Measure, ranks

CUTS = (1, 5, 10)


def recall_at_k(rank: Int[Tensor, " q"], k: int) -> float:
    """Percentage of queries whose right answer is among the first k (rank 0 is first).

    >>> import torch
    >>> recall_at_k(torch.tensor([0, 3, 9, 20]), 5)
    50.0
    """
    return 100 * (rank < k).double().mean().item()


def summarise(i2t: Int[Tensor, " m"], t2i: Int[Tensor, " n"]) -> dict[str, float]:
    """Recalls, ranks (counted from 1) and their sum for both ways of retrieval."""
    scores: dict[str, float] = {}
    for way, rank in (("i2t", i2t), ("t2i", t2i)):
        for k in CUTS:
            scores[f"{way}_r{k}"] = recall_at_k(rank, k)
        scores[f"{way}_median"] = 1 + rank.double().quantile(0.5).floor().item()
        scores[f"{way}_mean"] = 1 + rank.double().mean().item()
    scores["rsum"] = sum(scores[f"{way}_r{k}"] for way in ("i2t", "t2i") for k in CUTS)
    return scores


def retrieval(
    measure: Measure, images: Any, captions: Any, owner: Int[Tensor, " n"]
) -> dict[str, float]:
    """Retrieve among all images and all captions, where caption j belongs to image `owner[j]`."""
    return summarise(*ranks(measure, images, captions, owner))


def retrieval_in_folds(
    measure: Measure, images: Any, captions: Any, owner: Int[Tensor, " n"], fold: int = 1000
) -> dict[str, float]:
    """The mean over successive folds of `fold` images and their captions; a last, short one is left out."""
    folds = []
    for start in range(0, len(images) - fold + 1, fold):
        mine = ((owner >= start) & (owner < start + fold)).nonzero()[:, 0]
        part = images[start : start + fold]
        folds.append(retrieval(measure, part, captions[mine], owner[mine] - start))
    return {name: sum(f[name] for f in folds) / len(folds) for name in folds[0]} if folds else {}


def chance(images: int, captions: int) -> dict[str, float]:
    """What guessing would score among `images` with `captions` each: recalls, mean ranks, rsum.

    >>> round(chance(500, 5)["t2i_r10"], 2), round(chance(500, 5)["i2t_r1"], 2)
    (2.0, 0.2)
    """
    every = images * captions
    scores: dict[str, float] = {}
    for k in CUTS:
        missed = math.comb(every - captions, k) / math.comb(every, k) if k <= every else 0.0
        scores[f"i2t_r{k}"] = 100 * (1 - missed)
        scores[f"t2i_r{k}"] = 100 * min(k, images) / images
    scores["rsum"] = sum(scores.values())
    scores["i2t_mean"] = (every + 1) / (captions + 1)
    scores["t2i_mean"] = (images + 1) / 2
    return scores
