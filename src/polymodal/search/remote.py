"""Candidates from Milvus, for an index that one machine cannot search alone.

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

from polymodal.search.facing import Side
from polymodal.search.items import Filter, Items
from polymodal.search.lifts import ItemLift, QueryLift
from polymodal.search.milvus import MilvusStore, Rows
from polymodal.search.milvus.store import MOST
from polymodal.search.origin import fingerprint
from polymodal.search.settings import Settings
from polymodal.similarity import Embeddings

COLLECTION = "polymodal"
"""The name of a collection, where the store does not give one."""


def named(store: str) -> MilvusStore:
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

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each id is in the index."""
        return {id: place for place, id in enumerate(self.items.ids)}

    def candidates(
        self, queries: Embeddings, count: int, only: Filter | None = None
    ) -> Int[Tensor, "m c"]:
        """The places of up to `count` items near each query, −1 where there are fewer."""
        if not self.store.facts:
            self.store.open(self.about, self.widths, self.lift.metric)
        count = min(count, MOST, len(self.items))
        hits = self.store.search(self.lift(queries), count, only.where if only else None)
        rows = [[self.places[hit.id] for hit in found] for found in hits]
        padded = [row + [-1] * (count - len(row)) for row in rows]
        return torch.tensor(padded).reshape(len(rows), count)

    def close(self) -> None:
        """Disconnect."""
        self.store.close()


def connect(
    lift: QueryLift, embeddings: Embeddings, items: Items, side: Side, settings: Settings
) -> Remote:
    """The items in the store of the settings, which is asked when it is needed."""
    parts = {"points": embeddings} if isinstance(embeddings, Tensor) else vars(embeddings)
    told = {"measure": lift.measure, "side": side, "ids": items.ids}
    about = {"measure": lift.measure, "side": side, "items": fingerprint(parts, told)}
    return Remote(lift, named(settings.store or ""), items, about, lift.widths(embeddings))


def build(
    measure: str,
    embeddings: Embeddings,
    items: Items,
    side: Side,
    settings: Settings,
    advance: Callable[[int], None] = lambda count: None,
) -> Remote:
    """Lift every item and store it; killed or cut off, the same call goes on with those that are missing."""
    graph = settings.kind == "hnsw"
    lift = ItemLift(measure, embeddings, side, whole=not graph)
    found = connect(lift.queries, embeddings, items, side, settings)

    def rows() -> Iterator[Rows]:
        start = 0
        for block in lift:
            some = slice(start, start + len(block[0]))
            start = some.stop
            yield Rows(ids=items.ids[some], vectors=block, metadata=items.metadata[some])

    with ExitStack() as undone:
        undone.callback(found.close)
        found.store.prepare(
            found.about, found.widths, found.lift.metric, "hnsw" if graph else "flat"
        )
        found.store.add(rows(), len(items), advance)
        undone.pop_all()
    return found
