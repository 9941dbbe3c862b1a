"""Ranks and top-k under any measure, by blocks that keep memory bounded whatever the number of items."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.maths.similarity.lifting import Held, Lifting, Measure, exact, hold

TIE = 1e-6
"""Scores that differ by less than this, or this share of their size, are one score, rounded twice."""

BYTES = 2**26
"""The most that a block of scores, or of lifted vectors, takes: about four exist at a time."""

ACCELERATED = 2**27
"""The same on an accelerator, where a small block takes longer to ask for than to compute."""

ALIGNED = 128
"""Blocks are whole multiples of this many columns where they can be: odd sizes have slow kernels."""


def columns(rows: int, embeddings: Any) -> int:
    """How many columns a block has: within `BYTES` in float32 (`ACCELERATED` on a GPU), as scores and as
    lifted vectors."""
    width = 2 * embeddings.shape[-1] if hasattr(embeddings, "shape") else 1
    there = ACCELERATED if on_accelerator(embeddings) else BYTES
    count = max(1, there // (4 * max(rows, width)))
    return count - count % ALIGNED if count > ALIGNED else count


def on_accelerator(embeddings: Any) -> bool:
    """Whether something lies on a GPU."""
    return getattr(getattr(embeddings, "device", None), "type", "cpu") == "cuda"


@torch.no_grad()
def ranks(
    measure: Measure,
    images: Any,
    captions: Any,
    owner: Int[Tensor, " n"],
    block: int | None = None,
) -> tuple[Int[Tensor, " m"], Int[Tensor, " n"]]:
    """Count, for each image and each caption as a query, the wrong answers that beat the best right one.

    Caption j belongs to image `owner[j]`. A tie counts against the model, and so does a NaN: one
    that gives every pair the same score is last, not first. `block` captions are scored at a time,
    or as many as keep a block of scores within 64 MiB (128 on a GPU).
    """
    m, n = len(images), len(captions)
    block = block or columns(m, captions)
    held = hold(measure, images)
    if isinstance(held, Held):
        best = best_pairs(held, captions, owner)
    else:
        best = best_scores(measure, images, captions, owner)
    least = slack(best)[:, None]
    i2t = torch.zeros(m, dtype=torch.long, device=owner.device)
    t2i = torch.empty(n, dtype=torch.long, device=owner.device)
    for start in range(0, n, block):
        part = slice(start, min(start + block, n))
        scores = held(captions[part])
        mine = owner[part]
        places = torch.arange(len(mine), device=owner.device)
        right = scores[mine, places]
        scores[mine, places] = -torch.inf
        i2t += len(mine) - worse(scores, least, 1)
        t2i[part] = m - worse(scores, slack(right), 0)
        del scores  # or this block would lie beside the next one while that is made
    return i2t, t2i


def worse(scores: Float[Tensor, "m n"], than: Float[Tensor, "..."], dim: int) -> Int[Tensor, " k"]:
    """How many scores along an axis of fewer than 2²⁴ are below what is asked."""
    # zeros and ones are counted in float32, which has all whole numbers below 2²⁴: on a GPU by a sum of
    # halves (booleans would be copied to eight bytes each), on a CPU by a product, many times faster
    if scores.is_cuda:
        halves = torch.empty(scores.shape, dtype=torch.float16, device=scores.device)
        return torch.lt(scores, than, out=halves).sum(dim, dtype=torch.float32).long()
    marks = torch.lt(scores, than, out=torch.empty(scores.shape))
    ones = marks.new_ones(marks.shape[dim])
    with exact(marks):
        return (marks @ ones if dim == 1 else ones @ marks).long()


@torch.no_grad()
def best_scores(
    measure: Measure,
    images: Any,
    captions: Any,
    owner: Int[Tensor, " n"],
    block: int = 64,
) -> Float[Tensor, " m"]:
    """The score of each image with the best of its own captions."""
    if isinstance(measure, Lifting):
        return best_pairs(measure.hold(images), captions, owner)
    order = owner.argsort(stable=True)
    ends = torch.bincount(owner, minlength=len(images)).cumsum(0).tolist()
    best = []
    for start in range(0, len(images), block):
        stop = min(start + block, len(images))
        mine = order[(ends[start - 1] if start else 0) : ends[stop - 1]]
        scores = measure(images[start:stop], captions[mine])
        rows = torch.arange(start, stop, device=owner.device)
        best.append(scores.masked_fill(rows[:, None] != owner[mine], -torch.inf).amax(1))
    return torch.cat(best)


def best_pairs(held: Held, captions: Any, owner: Int[Tensor, " n"]) -> Float[Tensor, " m"]:
    """The same without scoring any wrong pair."""
    block = max(1, columns(0, captions) // 2)  # beside the captions lie as many images
    starts = range(0, len(captions), block)
    parts = [slice(start, start + block) for start in starts]
    scores = torch.cat([held.pairs(owner[part], captions[part]) for part in parts])
    best = torch.full((len(held.images),), -torch.inf, dtype=scores.dtype, device=scores.device)
    return best.scatter_reduce(0, owner, scores, "amax")


def slack(scores: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """What a score must reach to count as no worse than these, rounding aside."""
    return scores - TIE * (1 + scores.abs())


def top_k(
    measure: Measure, queries: Any, items: Any, k: int, block: int | None = None
) -> tuple[Float[Tensor, "m k"], Int[Tensor, "m k"]]:
    """The k best items of each query, with their scores, best first; items are scored by blocks.

    Queries are the measure's first argument; `turned(measure)` looks for images by captions.
    """
    k = min(k, len(items))
    block = block or columns(len(queries), items)
    held = hold(measure, queries)
    scores, places = torch.empty(0), torch.empty(0)
    for start in range(0, len(items), block):
        part = items[start : start + block]
        best = held(part).topk(min(k, len(part)), dim=1)
        values, where = best.values, best.indices + start
        if start:
            values, where = torch.cat([scores, values], 1), torch.cat([places, where], 1)
            best = values.topk(min(k, values.shape[1]), dim=1)
            values, where = best.values, where.gather(1, best.indices)
        scores, places = values, where
    return scores, places
