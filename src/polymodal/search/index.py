"""An index: embedded items that are searched under a measure, exactly or by FAISS, with one call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.ranges import check_count
from polymodal.maths.similarity import Embeddings, Lifting, measure, top_k
from polymodal.maths.similarity.kinds import check
from polymodal.search import nearest, remote
from polymodal.search.facing import SIDES, Side, asked_first, facing
from polymodal.search.index_settings import EXACT, Settings
from polymodal.search.items import Filter, Items
from polymodal.search.nearest import Nearest
from polymodal.search.origin import Origin
from polymodal.search.remote import Remote
from polymodal.search.sureness import Calibration
from polymodal.search.tensors import unfinite

Found = tuple[Float[Tensor, "m k"], Int[Tensor, "m k"]]
"""Scores and places of the hits of each query, best first."""

USUAL = 10
"""Hits that a search gives where nobody says how many."""

QUERIES = 1024
"""Queries that are searched at a time."""

BYTES = 2**22
"""What lifted items or candidates take that are scored at a time: within a processor's cache, scoring
is several times as fast."""

SHARE = 0.5
"""A filter that leaves less than this share of the items is searched exactly: lists and graphs would
come upon too few that pass."""

UNCALIBRATED = "the index was built without a split whose answers are known"


@dataclass(frozen=True, kw_only=True, eq=False)
class Index:
    """Embedded items, all images or all captions, and how they are searched."""

    embeddings: Embeddings = field(repr=False)
    items: Items = field(repr=False)
    side: Side
    """What the items are."""
    measure: str
    """The name of the similarity."""
    settings: Settings = EXACT
    nearest: Nearest | Remote | None = field(default=None, repr=False)
    """Where candidates come from, unless every item is scored."""
    calibration: Calibration | str = UNCALIBRATED
    """How sure an answer is, or why that is not known."""
    origin: Origin | None = None
    """The model and the data, where they are known."""

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise unknown("side", self.side, SIDES)
        check(measure(self.measure), **{f"{self.side}s": self.embeddings})
        if len(self.embeddings) != len(self.items) or not len(self.items):
            raise PolymodalError(
                "An index needs an embedding for each item, and one item at least; found "
                f"{len(self.embeddings)} embeddings and {len(self.items)} items."
            )
        bad = unfinite(self.embeddings)
        if bad is not None:
            raise PolymodalError(
                f"The embedding of {self.items[bad].id!r} is not finite: the model has diverged. "
                "Train it again with a smaller learning rate, and index again."
            )

    def __len__(self) -> int:
        return len(self.items)

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from Milvus, if that is where it is searched."""
        if isinstance(self.nearest, Remote):
            self.nearest.close()

    @property
    def dim(self) -> int:
        """The width of the embeddings."""
        return self.embeddings.shape[-1]

    @torch.no_grad()
    def search(
        self,
        queries: Embeddings,
        k: int | None = None,
        where: Mapping[str, Any] | None = None,
        side: Side | None = None,
    ) -> Found:
        """The k best items of each query, with their scores, best first.

        Args:
            queries: embeddings of the same model, m of them.
            k: how many; by default ten, or all where there are fewer.
            where: only items whose metadata have these values.
            side: what the queries are; by default the other side than the items. Queries of the
                items' own side take the other's place, see `facing`.
        """
        only = self.only(where)
        return self.search_among(queries, self.allowed_k(k, only), only, side)

    def only(self, where: Mapping[str, Any] | None) -> Filter | None:
        """The items that a filter leaves; none stands for all of them."""
        return self.items.matching(where) if where else None

    def search_among(
        self, queries: Embeddings, k: int, only: Filter | None, side: Side | None = None
    ) -> Found:
        """The k best of some items for each query, k no more than they are; see `search`."""
        if side not in (None, *SIDES):
            raise unknown("side", str(side), SIDES)
        device = self.embeddings.device
        only = only and only.to(device)
        queries = queries.to(device, torch.promote_types(queries.dtype, self.embeddings.dtype))
        queries = self.checked(queries, own=side == self.side)
        parts = [
            self.search_some(queries[start : start + QUERIES], k, only)
            for start in range(0, max(len(queries), 1), QUERIES)
        ]
        return torch.cat([scores for scores, _ in parts]), torch.cat([found for _, found in parts])

    def tuned(
        self,
        *,
        probes: int | None = None,
        effort: int | None = None,
        oversample: int | None = None,
    ) -> "Index":
        """The same index, searched more or less widely, see `Settings`; what is not given stays."""
        given = {"probes": probes, "effort": effort, "oversample": oversample}
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if not chosen:
            return self
        settings = replace(self.settings, **chosen)
        found = self.nearest and replace(self.nearest, settings=settings)
        return replace(self, settings=settings, nearest=found)

    def searched(self, only: Filter | None) -> int:
        """How many items a search is among."""
        return len(only.places) if only else len(self)

    def allowed_k(self, k: int | None, only: Filter | None) -> int:
        """How many hits a query gets."""
        count = self.searched(only)
        if k is None:
            return min(USUAL, count)
        check_count("k", k, "how many hits a query gets")
        if k > count:
            raise PolymodalError(
                f"k is {k}, but the index has {count} items{f' with {only}' if only else ''}. "
                f"Ask for {count} at the most."
            )
        return k

    def checked(self, queries: Embeddings, own: bool) -> Embeddings:
        """Queries that can be compared with the items."""
        if len(queries.shape) != 2 or queries.shape[-1] != self.dim:
            raise PolymodalError(
                f"The index holds embeddings of width {self.dim}, so queries come as m×{self.dim}; "
                f"found the shape {tuple(queries.shape)}. Embed them with the model of the index."
            )
        if unfinite(queries) is not None:
            raise PolymodalError(
                f"Query {unfinite(queries)} is not finite: the model has diverged. "
                "Train it again with a smaller learning rate, and index again."
            )
        return facing(self.measure, queries, self.embeddings) if own else queries

    def search_some(self, queries: Embeddings, k: int, only: Filter | None) -> Found:
        """One batch of queries."""
        few = only is not None and len(only.places) < SHARE * len(self)
        if self.nearest is None or few:
            return self.search_all(queries, k, only)
        places = self.nearest.candidates(queries, k * self.settings.oversample, only)
        places = places.to(self.embeddings.device)
        if places.shape[1] < k:  # Milvus gives no more
            return self.search_all(queries, k, only)
        scores, best = self.score(queries, places).topk(k)
        found = places.gather(1, best)
        short = (found < 0).any(1)  # lists or graph have led to too few
        if short.any():
            scores[short], found[short] = self.search_all(queries[short], k, only)
        return scores, found

    def search_all(self, queries: Embeddings, k: int, only: Filter | None) -> Found:
        """The best of all items that may be found, each scored, by blocks."""
        asked = asked_first(self.measure, self.side)
        block = max(1, BYTES // (8 * self.dim))
        if only is None:
            return top_k(asked, queries, self.embeddings, k, block)
        some = Chosen(self.embeddings, only.places)
        scores, places = top_k(asked, queries, some, k, block)
        return scores, only.places[places]

    def score(self, queries: Embeddings, places: Int[Tensor, "m c"]) -> Float[Tensor, "m c"]:
        """The exact scores of each query's candidates; −∞ for a place of −1."""
        held = cast(Lifting, asked_first(self.measure, self.side)).hold(queries)
        asking = torch.arange(len(queries), device=places.device)[:, None].expand_as(places)
        step = max(1, BYTES // (8 * self.dim * places.shape[1]))
        scores = [
            held.pairs(rows.flatten(), self.embeddings[some.clamp(min=0).flatten()])
            for rows, some in zip(asking.split(step), places.split(step), strict=True)
        ]
        return torch.cat(scores).view(places.shape).masked_fill_(places < 0, -torch.inf)


@dataclass(frozen=True)
class Chosen:
    """Some of the items, taken when a block of them is asked for."""

    embeddings: Embeddings
    places: Int[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, part: slice) -> Embeddings:
        return self.embeddings[self.places[part]]


def check_settings(name: str, settings: Settings) -> None:
    """Refuse what could not be built: told before hours of embedding, not after."""
    if not settings.lifted:
        return
    if not isinstance(measure(name), Lifting):
        raise PolymodalError(
            f"{name} is no inner product of lifted vectors, so FAISS and Milvus cannot search it. "
            f"Choose --kind exact{', without --store' if settings.store else ''}."
        )
    if settings.store:
        remote.reach(settings.store)
    else:
        nearest.engine()


def build(
    embeddings: Embeddings,
    items: Items,
    *,
    side: Side,
    measure: str,
    settings: Settings = EXACT,
    calibration: Calibration | str = UNCALIBRATED,
    origin: Origin | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Index:
    """An index of embedded items; `advance` is told how many FAISS or Milvus has taken.

    >>> from polymodal.search import Item
    >>> items = Items.of([Item(id="east"), Item(id="north")])
    >>> index = build(torch.eye(2), items, side="image", measure="cosine")
    >>> scores, places = index.search(torch.tensor([[0.0, 3.0]]), k=1)
    >>> index.items[int(places)].id, scores.tolist()
    ('north', [[1.0]])
    """
    exact = Index(
        embeddings=embeddings,
        items=items,
        side=side,
        measure=measure,
        calibration=calibration,
        origin=origin,
    )
    if not settings.lifted:
        return replace(exact, settings=settings)
    found: Nearest | Remote
    if settings.store:
        found = remote.build(measure, embeddings, items, side, settings, advance)
    else:
        found = nearest.build(measure, embeddings, side, settings, advance)
    return replace(exact, settings=settings, nearest=found)
