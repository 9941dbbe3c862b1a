"""What the scores of an index say of its answers, learned from queries whose answers are known.

Each query is put to the index's own items with its own item added to them, so that chances are those of
searches among these items, as many as they are. The same among a random quarter of them, a sixteenth, …
gives the chances where a filter leaves fewer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import Embeddings, Measure, measure, slack
from polymodal.search.facing import Side, other
from polymodal.search.index import Index
from polymodal.search.items import Filter
from polymodal.search.sureness import DEPTH, FIRST, Calibration, Weights, log_odds, signals

QUERIES = 20
"""Fewer queries teach nothing."""

MOST = 5000
"""Queries that are put to an index at most."""

SHRINKING = 4
"""How many times fewer items each further search is among."""

LEAST = 2 * FIRST
"""Items that are searched at least, where there are as many."""

DOUBT = 3.9
"""Signals must explain the outcomes by so many nats better than a constant does: for three weights, the five
per cent level of a likelihood ratio test."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Queries to an index whose answers are known."""

    queries: Embeddings
    own: Float[Tensor, "q c"]
    """Their scores with their own items, −∞ where there is none."""
    there: Int[Tensor, "q c"]
    """Where the index holds those items, −1 where it does not."""
    group: Int[Tensor, " q"]
    """The images that they belong to: captions of one image are right or wrong together."""


@torch.no_grad()
def calibrate(
    index: Index,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    *,
    split: str,
    ids: Sequence[str] = (),
) -> Calibration:
    """Learn how sure the answers of an index are, from a split: caption j belongs to image `owner[j]`.

    `ids` are those of the split's images, or captions, where the index may hold them already.
    """
    asked = labelled(index, images, captions, owner, ids)
    if len(asked.queries) < QUERIES:
        raise PolymodalError(
            f"{len(asked.queries)} queries are too few to learn from how sure an answer is; "
            f"{QUERIES} are needed."
        )
    if len(index) <= FIRST:
        raise PolymodalError(
            f"{len(index)} items are too few to learn from how sure an answer is: each is among the "
            f"first {FIRST}."
        )
    weights = []
    for size in sizes_of(len(index)):
        scores, right = outcomes(index, asked, some_of(index, size))
        share = independent(right.cpu(), asked.group.cpu())
        weights.append(fit(signals(scores).numpy(), right.cpu().numpy(), share))
    return Calibration(
        sizes=sizes_of(len(index)),
        weights=tuple(weights),
        asked=other(index.side),
        queries=len(asked.queries),
        split=split,
    )


@torch.no_grad()
def claims(
    index: Index,
    calibration: Calibration,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    *,
    ids: Sequence[str],
    only: Filter | None = None,
) -> tuple[Float[Tensor, " q"], Bool[Tensor, " q"]]:
    """What an index claims of its answers to queries whose items it holds under these `ids`, or some of
    them; and which are right."""
    scores, right = outcomes(index, labelled(index, images, captions, owner, ids), only)
    return calibration.chances(scores, index.searched(only)), right.cpu()


def labelled(
    index: Index,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    ids: Sequence[str],
) -> Labelled:
    """The captions of an index of images, or the images of an index of captions, as its queries."""
    queries = captions if index.side == "image" else images
    taken = torch.linspace(0, len(queries) - 1, min(len(queries), MOST)).round().long()
    pairs = own_pairs(owner, index.side, len(images))[taken.to(owner.device)]
    scores = pair_scores(measure(index.measure), images, captions, owner)
    return Labelled(
        queries=queries[taken.to(owner.device)],
        own=scores[pairs].masked_fill(pairs < 0, -torch.inf),
        there=places_of(index, ids, owner[pairs] if index.side == "image" else pairs),
        group=owner[taken.to(owner.device)] if index.side == "image" else taken,
    )


def outcomes(
    index: Index, asked: Labelled, only: Filter | None = None
) -> tuple[Float[Tensor, "q k"], Bool[Tensor, " q"]]:
    """The best scores of each query among some items and its own; and whether an own one is among the
    first ten of the others. A tie counts against the model."""
    count = index.searched(only)
    deep = min(count, DEPTH + asked.own.shape[1])
    scores, places = index.search_among(asked.queries, deep, only)
    own_scores, there = asked.own.to(scores), asked.there.to(places.device)
    again = (places[:, :, None] == there[:, None]).any(-1)
    others = scores.masked_fill(again, -torch.inf)
    right = (others >= slack(own_scores.amax(1))[:, None]).sum(1) < FIRST
    best = torch.cat([others, own_scores], 1).topk(min(count, DEPTH)).values
    return best, right


def own_pairs(owner: Int[Tensor, " n"], items: Side, images: int) -> Int[Tensor, "q c"]:
    """The captions that pair each query with an item of its own: a caption itself, or all captions of an
    image; −1 where it has fewer than another.

    >>> own_pairs(torch.tensor([0, 1, 1]), "caption", 2).tolist()
    [[0, -1], [1, 2]]
    """
    if items == "image":
        return torch.arange(len(owner), device=owner.device)[:, None]
    counts = torch.bincount(owner, minlength=images)
    groups = owner.argsort(stable=True).split(counts.tolist())
    return pad_sequence(groups, batch_first=True, padding_value=-1)


def pair_scores(
    measure: Measure,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    block: int = 64,
) -> Float[Tensor, " n"]:
    """The score of each caption with its image."""
    parts = torch.arange(len(owner), device=owner.device).split(block)
    return torch.cat([measure(images[owner[part]], captions[part]).diagonal() for part in parts])


def places_of(index: Index, ids: Sequence[str], items: Int[Tensor, "q c"]) -> Int[Tensor, "q c"]:
    """Where the index holds some items, given by their numbers among `ids`; −1 where it does not."""
    if not ids:
        return torch.full_like(items, -1)
    known = {id: place for place, id in enumerate(index.items.ids)}
    there = torch.tensor([*(known.get(id, -1) for id in ids), -1], device=items.device)
    return there[items]


def sizes_of(items: int) -> tuple[int, ...]:
    """How many items are searched.

    >>> sizes_of(1000), sizes_of(15)
    ((62, 250, 1000), (15,))
    """
    sizes = [items]
    while sizes[-1] >= SHRINKING * LEAST:
        sizes.append(sizes[-1] // SHRINKING)
    return tuple(reversed(sizes))


def some_of(index: Index, size: int) -> Filter | None:
    """So many of the items at random, the same each time; or all of them."""
    if size == len(index):
        return None
    drawn = torch.randperm(len(index), generator=torch.Generator().manual_seed(0))[:size]
    return Filter({}, drawn.sort().values)


def independent(right: Bool[Tensor, " q"], group: Int[Tensor, " q"]) -> float:
    """How much of an independent query each counts as, where those of one group are right together: one by
    the design effect (Kish, 1965), how much more the means of groups vary than if all were independent.

    >>> apart, together = torch.tensor([True, False] * 50), torch.arange(100) % 4 < 2
    >>> independent(apart, torch.arange(100)), independent(together, torch.arange(100) // 2)
    (1.0, 0.5)
    """
    _, place, counts = group.unique(return_inverse=True, return_counts=True)
    means = torch.bincount(place, right.double()) / counts
    least = (1 / counts).mean().item()  # if one answer tells all of its group
    whole, spread = (values.var(correction=0).item() for values in (right.double(), means))
    return min(1.0, least * whole / spread) if spread else least


def fit(
    signals: Float[np.ndarray, "q 2"], right: Bool[np.ndarray, " q"], share: float = 1.0
) -> Weights:
    """Logistic regression with a bend, see `sureness.log_odds`; no weights where signals tell nothing.

    Each query counts as a `share` of one. Two priors keep a few queries from claiming certainty: one more
    outcome of each kind (Platt, 1999), and standard normals for the weights of standardised signals and for
    the bend.
    """
    from scipy.optimize import minimize

    hits, misses = share * right.sum(), share * (~right).sum()
    target = np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))
    mean, spread = signals.mean(0), signals.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    even = torch.from_numpy((signals - mean) / spread)

    def cross_entropy(odds: Float[np.ndarray, " q"]) -> float:
        """In nats, summed over queries."""
        both = target * np.logaddexp(0, -odds) + (1 - target) * np.logaddexp(0, odds)
        return float(share * both.sum())

    def posterior(free: Float[np.ndarray, " 4"]) -> float:
        prior = 0.5 * float((free[1:] ** 2).sum())
        return cross_entropy(log_odds(even, free.tolist()).numpy()) + prior

    best = minimize(posterior, np.zeros(4), method="L-BFGS-B").x
    usual = float(np.log(target.mean() / (1 - target.mean())))
    gain = cross_entropy(np.full(len(right), usual))
    gain -= cross_entropy(log_odds(even, best.tolist()).numpy())
    if gain < DOUBT:
        return usual, 0.0, 0.0, 0.0
    slopes = best[1:3] / spread
    lead, score = slopes.tolist()
    return float(best[0] - slopes @ mean), lead, score, float(best[3])
