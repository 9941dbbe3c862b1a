"""Candidates from Milvus, for an index whose vectors are searched elsewhere.

The lifted vectors are in a Milvus collection; embeddings and items stay in the index's folder, from
which candidates are scored exactly.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from polymodal.maths.similarity import Embeddings
from polymodal.search.facing import Side
from polymodal.search.index_settings import Settings
from polymodal.search.items import Filter, Items
from polymodal.search.lifts import ItemLift, QueryLift
from polymodal.search.milvus import MilvusStore, Rows
from polymodal.search.milvus.store import MOST
from polymodal.search.origin import fingerprint
from polymodal.search.tensors import by_name

COLLECTION = "polymodal"
"""The name of a collection, where the store does not give one."""


def store_named(store: str) -> MilvusStore:
    """The store of a name such as milvus:vectors.db or milvus:http://localhost:19530#photos."""
    uri, _, collection = store.removeprefix("milvus:").partition("#")
    return MilvusStore(uri, collection or COLLECTION)


def settled(store: str) -> str:
    """The same store by a name that is good in every folder: the path of a file is made whole.

    >>> settled("milvus:http://localhost:19530#photos")
    'milvus:http://localhost:19530#photos'
    """
    uri, mark, collection = store.removeprefix("milvus:").partition("#")
    place = uri if "://" in uri else str(Path(uri).expanduser().absolute())
    return f"milvus:{place}{mark}{collection}"


@dataclass(frozen=True, eq=False)
class Remote:
    """All items in Milvus, a vector of each for each lift."""

    lift: QueryLift
    store: MilvusStore
    items: Items = field(repr=False)
    about: dict[str, Any]
    """What the collection must have been made with."""
    widths: tuple[int, ...]
    settings: Settings

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each id is in the index."""
        return {id: place for place, id in enumerate(self.items.ids)}

    def candidates(
        self, queries: Embeddings, count: int, only: Filter | None = None
    ) -> Int[Tensor, "m c"]:
        """The places of up to `count` items a lift near each query, −1 where there are fewer."""
        if not self.store.facts:
            self.store.open(self.about, self.widths, self.lift.metric)
        count = min(count, MOST, len(self.items))
        where = only.where if only else None
        hits = self.store.search(self.lift(queries), count, where, self.settings.effort)
        rows = [[self.places[id] for id in ids] for ids in hits]
        width = max(map(len, rows), default=0)
        padded = [row + [-1] * (width - len(row)) for row in rows]
        return torch.tensor(padded, dtype=torch.long).reshape(len(rows), width)

    def close(self) -> None:
        """Disconnect."""
        self.store.close()


def reach(store: str) -> None:
    """Connect to a store and disconnect, to learn early whether that is possible."""
    with store_named(store) as opened:
        opened.line.open()


def about(measure: str, embeddings: Embeddings, items: Items, side: Side) -> dict[str, Any]:
    """What a collection of these items is made with, the same in whatever precision they come."""
    rows = {name: part.float() for name, part in by_name(embeddings).items()}
    facts = {"measure": measure, "side": side}
    return {**facts, "items": fingerprint(rows, [items.ids, items.metadata])}


def build_stored(
    measure: str,
    embeddings: Embeddings,
    items: Items,
    side: Side,
    settings: Settings,
    advance: Callable[[int], None] = lambda count: None,
) -> Remote:
    """Lift every item and store it; killed or cut off, the same call goes on with those that are missing."""
    lift = ItemLift(measure, embeddings, side, whole=settings.kind != "hnsw")

    def rows() -> Iterator[Rows]:
        start = 0
        for block in lift:
            some = slice(start, start + len(block[0]))
            start = some.stop
            yield Rows(ids=items.ids[some], vectors=block, metadata=items.metadata[some])

    with ExitStack() as undone:
        remote = Remote(
            lift=lift.queries,
            store=undone.enter_context(store_named(settings.store or "")),
            items=items,
            about=about(measure, embeddings, items, side),
            widths=lift.queries.widths(embeddings),
            settings=settings,
        )
        remote.store.prepare(remote.about, remote.widths, remote.lift.metric, settings)
        remote.store.add(rows(), len(items), advance)
        undone.pop_all()
    return remote
