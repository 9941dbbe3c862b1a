"""What a search gives: hits, and how sure the answer is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings
from polymodal.search.facing import Side, other
from polymodal.search.index import Index
from polymodal.search.sureness import DEPTH, FIRST, Calibration, Sureness


@dataclass(frozen=True, kw_only=True)
class Hit:
    """An item that was found."""

    id: str
    score: float
    """By the similarity, higher for more alike."""
    entropy: float | None
    """Of the item, in nats, where it is a Gaussian (001, eq. 18)."""
    captions: tuple[str, ...]
    metadata: Mapping[str, Any]
    picture: str | None
    """The file of its picture, where it has one."""


@dataclass(frozen=True, kw_only=True)
class Answer(Sequence[Hit]):
    """The hits of one query, best first, and how sure they are."""

    query: str
    """The text, or the name of the picture."""
    asked: Side
    """What the query is: image or caption."""
    hits: tuple[Hit, ...]
    sureness: Sureness
    entropy: float | None
    """Of the query, in nats, where it is a Gaussian."""
    unknown: tuple[str, ...] = ()
    """Words of the query that the model has never seen."""

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return asdict(self)


@torch.no_grad()
def answers(
    index: Index,
    queries: Embeddings,
    names: Sequence[str],
    *,
    k: int | None = None,
    where: Mapping[str, Any] | None = None,
    side: Side | None = None,
) -> list[Answer]:
    """Search for embedded queries, called by their names; see `Index.search`."""
    queries = queries.to(index.embeddings.device)
    asked = side or other(index.side)
    only = index.only(where)
    k, searched = index.allowed_k(k, only), index.searched(only)
    known = calibration(index, asked, searched)
    depth = k if isinstance(known, str) else max(k, min(DEPTH, searched))
    scores, places = index.search_among(queries, depth, only, side)
    sure = how_sure(known, scores, searched)
    results = []
    for row, name in enumerate(names):
        hits = zip(places[row, :k].tolist(), scores[row, :k].tolist(), strict=True)
        results.append(
            Answer(
                query=name,
                asked=asked,
                hits=tuple(hit(index, place, score) for place, score in hits),
                sureness=sure[row],
                entropy=entropy(queries, row),
            )
        )
    return results


def hit(index: Index, place: int, score: float) -> Hit:
    """What is known of an item that was found."""
    item = index.items[place]
    item_entropy = entropy(index.embeddings, place)
    return Hit(score=score, entropy=item_entropy, **vars(item))


def entropy(embeddings: Embeddings, place: int) -> float | None:
    """The entropy of one embedding, if it is a Gaussian."""
    if isinstance(embeddings, DiagonalGaussian):
        return embeddings[place].entropy().item()
    return None


def calibration(index: Index, asked: Side, searched: int) -> Calibration | str:
    """What tells how sure answers to queries of one side are among so many items, or why nothing does."""
    if asked == index.side:
        return f"no labels say which {asked}s are alike"
    if searched <= FIRST:
        return f"only {searched} items are searched, so all are among the first {FIRST}"
    return index.calibration


def how_sure(
    known: Calibration | str, scores: Float[Tensor, "q k"], searched: int
) -> list[Sureness]:
    """A word for each answer, or why there is none."""
    if isinstance(known, str):
        return [Sureness(why=known)] * len(scores)
    return [known.sureness(chance, searched) for chance in known.chances(scores, searched).tolist()]
