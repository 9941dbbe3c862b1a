"""Score matrices between two batches of embeddings, higher for more alike; ranks and top-k by blocks.

A *measure* is any function of m images and n captions that gives their m×n scores. Embeddings are
whatever the measure takes, so long as they have a length and can be indexed by a tensor.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

Measure = Callable[[Any, Any], Tensor]

TIE = 1e-6
"""Scores that differ by less than this, or this share of their size, are one score, rounded twice."""


def cosine(images: Float[Tensor, "m d"], captions: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]:
    """Cosine similarity of every image with every caption (VSE++, 001 §3.1).

    >>> cosine(torch.tensor([[3.0, 4.0]]), torch.tensor([[6.0, 8.0], [-4.0, 3.0]]))
    tensor([[1., 0.]])
    """
    unit = torch.nn.functional.normalize
    return unit(images, dim=-1) @ unit(captions, dim=-1).T


def ranks(
    measure: Measure, images: Any, captions: Any, owner: Int[Tensor, " n"], block: int = 4096
) -> tuple[Int[Tensor, " m"], Int[Tensor, " n"]]:
    """Count, for each image and each caption as a query, the wrong answers that beat the best right one.

    Caption j belongs to image `owner[j]`. A tie counts against the model, and so does a NaN: one
    that gives every pair the same score is last, not first. `block` captions are scored at a time.
    """
    best = best_scores(measure, images, captions, owner)
    m, n = len(images), len(captions)
    i2t = torch.zeros(m, dtype=torch.long, device=owner.device)
    t2i = torch.empty(n, dtype=torch.long, device=owner.device)
    for start in range(0, n, block):
        part = slice(start, min(start + block, n))
        scores = measure(images, captions[part])
        mine = owner[part]
        columns = torch.arange(len(mine), device=owner.device)
        right = scores[mine, columns]
        scores[mine, columns] = -torch.inf
        i2t += len(mine) - (scores < slack(best)[:, None]).sum(1)
        t2i[part] = m - (scores < slack(right)).sum(0)
    return i2t, t2i


def best_scores(
    measure: Measure, images: Any, captions: Any, owner: Int[Tensor, " n"], block: int = 64
) -> Float[Tensor, " m"]:
    """The score of each image with the best of its own captions."""
    order = owner.argsort(stable=True)
    ends = torch.bincount(owner, minlength=len(images)).cumsum(0).tolist()
    found = []
    for start in range(0, len(images), block):
        stop = min(start + block, len(images))
        mine = order[(ends[start - 1] if start else 0) : ends[stop - 1]]
        scores = measure(images[start:stop], captions[mine])
        rows = torch.arange(start, stop, device=owner.device)
        found.append(scores.masked_fill(rows[:, None] != owner[mine], -torch.inf).amax(1))
    return torch.cat(found)


def slack(scores: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """What a score must reach to count as no worse than these, rounding aside."""
    return scores - TIE * (1 + scores.abs())


def top_k(
    measure: Measure, queries: Any, items: Any, k: int, block: int = 65536
) -> tuple[Float[Tensor, "m k"], Int[Tensor, "m k"]]:
    """The k best items of each query, with their scores, best first; items are scored by blocks."""
    k = min(k, len(items))
    scores, places = [], []
    for start in range(0, len(items), block):
        part = measure(queries, items[start : start + block])
        best = part.topk(min(k, part.shape[1]), dim=1)
        scores.append(best.values)
        places.append(best.indices + start)
    best = torch.cat(scores, 1).topk(k, dim=1)
    return best.values, torch.cat(places, 1).gather(1, best.indices)
