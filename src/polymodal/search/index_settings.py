"""How an index is searched."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, check_ranges

Kind = Literal["exact", "flat", "ivf", "hnsw"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an index is searched; what FAISS finds is scored again, exactly, from the embeddings."""

    kind: Kind = "exact"
    """exact scores every item; with FAISS, flat does the same faster, ivf searches lists, hnsw a
    graph."""
    oversample: OneOrMore[int] = 4
    """Candidates that FAISS or Milvus returns per hit."""
    lists: OneOrMore[int | None] = None
    """ivf: number of lists; by default 4√count, with at least 39 items per list on average."""
    probes: OneOrMore[int] = 32
    """ivf: number of lists that are searched."""
    links: OneOrMore[int] = 32
    """hnsw: links per item."""
    building: OneOrMore[int] = 80
    """hnsw: search width while the graph is built (efConstruction)."""
    effort: OneOrMore[int] = 128
    """hnsw: search width (efSearch); at least the number of candidates."""
    store: str | None = None
    """Milvus in place of this process: milvus:FILE.db or milvus:ADDRESS, optionally with
    #COLLECTION."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.store is not None:
            check_store(self.store, self.kind)

    @property
    def lifted(self) -> bool:
        """Whether FAISS or Milvus searches lifted vectors."""
        return self.kind != "exact" or self.store is not None


def check_store(store: str, kind: Kind) -> None:
    """Refuse a store that is none, or that would give a secret away."""
    if not store.startswith("milvus:"):
        raise PolymodalError(
            f"A store is milvus:FILE.db or milvus:ADDRESS, not {store!r}. Without one, the index is "
            "searched in this process."
        )
    if "@" in store:
        raise PolymodalError(
            "The store's name is kept in the index, so it must hold no password. Give user and "
            "password as MILVUS_TOKEN=user:password in the environment."
        )
    if kind == "ivf":
        raise PolymodalError("Milvus has no ivf here. Choose --kind hnsw, or flat.")


EXACT = Settings()
"""Every item is scored."""
