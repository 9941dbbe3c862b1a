"""The store: rows go in by batches that may fail and be sent again, and are searched by their vectors."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity.lifting import Metric
from polymodal.search.index_settings import EXACT, Settings
from polymodal.search.milvus.connection import AnswerError, Connection, package
from polymodal.search.milvus.filters import among, matching
from polymodal.search.milvus.rows import Rows, check_ids, fields, whole

FACTS = "polymodal"
"""The property of a collection that says what it was made with."""

AT_ONCE = 1000
"""The most rows or ids of one call."""

BYTES = 2**24
"""The most bytes of vectors that are sent in one call; a cluster takes no message over 64 MiB."""

QUERIES = 256
"""The most queries of one call."""

MOST = 16384
"""Hits a query: Milvus gives no more."""

LOADING = 600.0
"""Seconds in which a collection must be loaded, for which a graph may have to be built."""

PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds before a batch that failed is tried again."""


class MilvusStore:
    """Lifted vectors in a Milvus collection; use it with `with`, so that the embedded Milvus stops."""

    def __init__(self, uri: str, collection: str = "polymodal", timeout: float = 30.0) -> None:
        """Name a store; `prepare` and `open` connect to it.

        Args:
            uri: a file that ends in .db, or the address of a cluster, as http://localhost:19530;
                if it wants a token, that is taken from $MILVUS_TOKEN.
            collection: its name.
            timeout: seconds in which Milvus must answer.
        """
        self.line = Connection(uri, collection, timeout)
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> "MilvusStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect; rows that are stored stay so."""
        self.line.close()
        self.facts = {}

    def prepare(
        self,
        about: Mapping[str, Any],
        widths: tuple[int, ...],
        metric: Metric,
        settings: Settings = EXACT,
    ) -> None:
        """Make the collection, or check that the one there was made with just the same.

        Args:
            about: what all rows have in common: their model, measure and side, and which items.
            widths: of the vectors of each lift.
            metric: how vectors are compared.
            settings: how they are searched: hnsw follows the links of a graph, faster, and misses
                some; otherwise a query meets every row.
        """
        graph = {"links": settings.links, "building": settings.building}
        how = graph if settings.kind == "hnsw" else None
        asked = {**about, "widths": list(widths), "metric": metric, "graph": how}
        self.line.open()
        if self._made_with() is None:
            self._create(asked)
        self._take(asked)

    def open(self, about: Mapping[str, Any], widths: tuple[int, ...], metric: Metric) -> None:
        """Make ready to search a collection that is there, if it was made with the same."""
        if self.line.path and not self.line.path.exists():
            raise self._absent()
        self.line.open()
        self._take({**about, "widths": list(widths), "metric": metric})

    def add(
        self,
        batches: Iterable[Rows],
        total: int,
        advance: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Store rows batch by batch; a row whose id is there already stays as it is.

        So after a failure or a kill the same call goes on where the other stopped.

        Args:
            batches: the rows.
            total: how many they are in all.
            advance: told how many more are done.
        """
        widths = self._known("widths")
        seen: set[str] = set()
        done = 0
        for rows in batches:
            vectors = whole(rows.vectors, widths, rows.ids)
            check_ids(rows, seen)
            rows = Rows(ids=rows.ids, vectors=vectors, metadata=rows.metadata)
            for part in rows.parts(max(1, min(AT_ONCE, BYTES // (4 * sum(widths))))):
                self._store(part, done, total)
                done += len(part.ids)
                advance(len(part.ids))
        stored = self.count()
        if stored != total:
            raise PolymodalError(
                f"{self.line}: it holds {stored} rows, not {total}, so somebody else writes into it or "
                "deletes from it. Choose another collection, or give the same command again."
            )

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of the ids that are not stored, in their order."""
        stored: set[str] = set()
        for start in range(0, len(ids), AT_ONCE):
            some = among(ids[start : start + AT_ONCE])
            rows = self.line.ask("query", filter=some, output_fields=["id"])
            stored.update(row["id"] for row in rows)
        return [id for id in ids if id not in stored]

    def count(self) -> int:
        """How many rows are stored."""
        return int(self.line.ask("query", output_fields=["count(*)"])[0]["count(*)"])

    def search(
        self,
        vectors: tuple[Float[np.ndarray, "m _"], ...],
        k: int,
        where: Mapping[str, Any] | None = None,
        effort: int = EXACT.effort,
    ) -> list[list[str]]:
        """The ids of the k best rows for each query, best first; fewer where there are fewer.

        Of several lifts those of all, each id once: their values cannot be compared where each lift
        has a sphere of its own, but the k best are among the k best of each.

        Args:
            vectors: the queries, for each lift.
            k: how many rows a query gets.
            where: what the metadata of a row must say; values are compared as text.
            effort: how widely a graph is searched, at the least for k.
        """
        if not 1 <= k <= MOST:
            raise PolymodalError(f"Milvus gives 1 to {MOST} hits a query, not {k}.")
        names = [f"query {place}" for place in range(len(vectors[0]) if vectors else 0)]
        lifts = whole(vectors, self._known("widths"), names)
        ids: list[list[str]] = []
        for start in range(0, len(names), QUERIES):
            block = [lift[start : start + QUERIES] for lift in lifts]
            ids += self._search(block, k, matching(where or {}), effort)
        return ids

    def drop(self) -> None:
        """Delete the collection, if there is one and it is ours."""
        self.line.open()
        if self._made_with() is not None:
            self.line.ask("drop_collection")
        self.facts = {}

    def _known(self, name: str) -> Any:
        """A fact of the collection, once it is open."""
        if not self.facts:
            raise PolymodalError(f"{self.line}: it is not open. Call prepare or open first.")
        return self.facts[name]

    def _made_with(self) -> dict[str, Any] | None:
        """What the collection was made with; nothing where there is none."""
        if not self.line.ask("has_collection"):
            return None
        text = self.line.ask("describe_collection").get("properties", {}).get(FACTS)
        if text is None:
            raise PolymodalError(
                f"{self.line}: another program made it. Choose another name for the collection."
            )
        facts: dict[str, Any] = json.loads(text)
        return facts

    def _absent(self) -> PolymodalError:
        return PolymodalError(f"{self.line}: there is none. Build the index first.")

    def _create(self, facts: Mapping[str, Any]) -> None:
        """Make an empty collection, with a vector field for each lift."""
        types = package("pymilvus").DataType
        schema = self.line.client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", types.VARCHAR, is_primary=True, max_length=65535)
        schema.add_field("metadata", types.JSON)
        for field, width in zip(fields(len(facts["widths"])), facts["widths"], strict=True):
            schema.add_field(field, types.FLOAT_VECTOR, dim=width)
        self.line.ask(
            "create_collection",
            schema=schema,
            consistency_level="Strong",  # a search sees all that was stored before it
            properties={FACTS: json.dumps(facts)},
        )

    def _take(self, asked: Mapping[str, Any]) -> None:
        """Check that the collection is the one that is meant, and load it."""
        facts = self._made_with()
        if facts is None:
            raise self._absent()
        asked = json.loads(json.dumps(asked))
        wrong = [name for name in asked if facts.get(name) != asked[name]]
        if wrong:
            differences = (f"{name} is {facts.get(name)!r}, not {asked[name]!r}" for name in wrong)
            raise PolymodalError(
                f"{self.line}: it was made with something else: {'; '.join(differences)}. Choose another "
                "collection, or drop this one and build the index again."
            )
        # a kill may have left the collection without its indexes, and then without rows
        bare = set(fields(len(facts["widths"]))) - set(self.line.ask("list_indexes"))
        if bare:
            self.line.ask("create_index", index_params=self._indexes(facts, bare), sync=False)
        self.line.ask("load_collection", timeout=LOADING)
        self.facts = facts

    def _indexes(self, facts: Mapping[str, Any], names: Iterable[str]) -> Any:
        """How Milvus is to search some vector fields."""
        indexes = self.line.client.prepare_index_params()
        metric = "IP" if facts["metric"] == "inner product" else "L2"
        graph = facts["graph"]
        for name in names:
            indexes.add_index(
                name,
                index_name=name,
                index_type="HNSW" if graph else "FLAT",
                metric_type=metric,
                params={"M": graph["links"], "efConstruction": graph["building"]} if graph else {},
            )
        return indexes

    def _store(self, rows: Rows, done: int, total: int) -> None:
        """Store what is missing of a batch; try again if that fails, for the line may have been down."""
        for pause in (*PAUSES, None):
            try:
                # asked each time: of a batch that failed, some rows may have arrived
                missing = set(self.missing(rows.ids))
                self.line.ask("upsert", data=rows.entities(missing))
                return
            except AnswerError as error:
                if pause is None:
                    raise PolymodalError(
                        f"{error} {done} of {total} rows are stored. When Milvus is there again, give "
                        "the same command: it goes on from there."
                    ) from error
                time.sleep(pause)

    def _search(
        self, lifts: Sequence[Float32[np.ndarray, "m _"]], k: int, condition: str, effort: int
    ) -> list[list[str]]:
        """The ids of the k best of each lift, for each query."""
        ids: list[dict[str, None]] = [{} for _ in lifts[0]]
        how = {"ef": max(effort, k)} if self.facts["graph"] else {}
        for field, queries in zip(fields(len(lifts)), lifts, strict=True):
            hits = self.line.ask(
                "search",
                data=list(queries),
                anns_field=field,
                limit=k,
                filter=condition,
                search_params={"params": how},
            )
            for query_ids, some in zip(ids, hits, strict=True):
                query_ids.update(dict.fromkeys(hit["id"] for hit in some))
        return [list(query_ids) for query_ids in ids]
