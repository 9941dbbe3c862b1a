"""Precision where a query has several right answers: captions true of several scenes, captions of one image.

Recall at 1 asks for any right answer; these ask for all R of them among the first R.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import Measure, hold, slack, turned
from polymodal.maths.similarity.blockwise import columns

Relevance = Tensor | Callable[[slice], Tensor]
"""Which items are right for which queries, m×n booleans: whole, or some queries' rows when asked."""


def precision(
    measure: Measure, queries: Any, items: Any, relevant: Relevance, block: int | None = None
) -> dict[str, float]:
    """R-precision and mean average precision at R, in percent, in one pass, `block` queries at a time.

    Of a query with R right answers, R-precision is the share of right ones among its first R; mAP@R
    is (1/R) Σ over right answers at place i ≤ R of the precision at i, and sees their order too.

    Queries are the measure's first argument; `turned(measure)` looks for images by captions. A
    query with no right answer is left out of the means.
    """
    block = block or columns(len(items), queries)
    held = hold(turned(measure), items)
    rows = [torch.zeros(0, 2, dtype=torch.double)]
    for start in range(0, len(queries), block):
        part = slice(start, min(start + block, len(queries)))
        right = relevant(part) if callable(relevant) else relevant[part]
        if right.dtype != torch.bool or right.shape != (part.stop - start, len(items)):
            raise PolymodalError(
                f"Relevance of queries {start} to {part.stop - 1} must be booleans of shape "
                f"{(part.stop - start, len(items))}; found {right.dtype} of {tuple(right.shape)}."
            )
        some = right.any(1)
        if some.any():
            scores = held(queries[part]).detach().T
            hits, count = first_r(scores[some], right[some])
            each = [r_precisions(hits, count), average_precisions(hits, count)]
            rows.append(torch.stack(each, 1).cpu())
    scored = torch.cat(rows)
    if not len(scored):
        raise PolymodalError(
            f"None of the {len(queries)} queries has a right answer among the {len(items)} items, so "
            "there is no precision. Check that relevance has queries in rows and items in columns."
        )
    mean = 100 * scored.mean(0)
    return {"r_precision": mean[0].item(), "map_at_r": mean[1].item()}


def belonging(
    queries: Int[Tensor, " m"], items: Int[Tensor, " n"]
) -> Callable[[slice], Bool[Tensor, "b n"]]:
    """Relevance by owners: an item is right for a query that has the same one.

    >>> belonging(torch.tensor([0, 1]), torch.tensor([0, 0, 1]))(slice(0, 1))
    tensor([[ True,  True, False]])
    """
    return lambda rows: queries[rows, None] == items


def first_r(
    scores: Float[Tensor, "m n"], right: Bool[Tensor, "m n"]
) -> tuple[Bool[Tensor, "m r"], Int[Tensor, " m"]]:
    """Whether each of a query's first R is right (False after them), and R, of right answers at least one.

    As in `ranks`, a tie counts against the model, and so does a NaN.
    """
    count = right.sum(1)
    best, worst = torch.inf, -torch.inf
    demoted = scores.nan_to_num(nan=best, posinf=best, neginf=worst)
    demoted[right] = slack(scores[right]).nan_to_num(nan=worst, posinf=best, neginf=worst)
    places = demoted.topk(int(count.max()), 1).indices
    within = torch.arange(places.shape[1], device=count.device) < count[:, None]
    return right.gather(1, places) & within, count


def r_precisions(hits: Bool[Tensor, "m r"], count: Int[Tensor, " m"]) -> Float[Tensor, " m"]:
    """The share of hits among the first R of each query."""
    return hits.double().sum(1) / count


def average_precisions(hits: Bool[Tensor, "m r"], count: Int[Tensor, " m"]) -> Float[Tensor, " m"]:
    """The average precision at R of each query."""
    place = torch.arange(1, hits.shape[1] + 1, device=hits.device, dtype=torch.double)
    return (hits * hits.cumsum(1) / place).sum(1) / count
