"""Candidates from FAISS, which searches the lifted vectors of the items."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import Embeddings
from polymodal.search.facing import Side
from polymodal.search.index_settings import Settings
from polymodal.search.items import Filter
from polymodal.search.lifts import ItemLift, QueryLift

LEAST = 39
"""Items a list of IVF has in the mean, or more: fewer make poor lists, FAISS says."""

SAMPLE = 64
"""Items a list that the lists' centres are learned from; FAISS wants 39."""


@dataclass(frozen=True)
class Nearest:
    """All items in FAISS: an index for each lift."""

    lift: QueryLift
    parts: tuple[Any, ...]
    settings: Settings

    def candidates(
        self, queries: Embeddings, count: int, only: Filter | None = None
    ) -> Int[Tensor, "m c"]:
        """The places of `count` items or more near each query, −1 where there are fewer."""
        how = parameters(self.settings, count, only, self.parts[0].ntotal)
        rows = [
            part.search(vectors, min(count, part.ntotal), params=how)[1]
            for part, vectors in zip(self.parts, self.lift(queries), strict=True)
        ]
        places = torch.from_numpy(np.concatenate(rows, 1))
        return without_repeats(places) if len(rows) > 1 else places


def without_repeats(places: Int[Tensor, "m c"]) -> Int[Tensor, "m c"]:
    """The same places in rising order, each once; −1 in place of the others.

    >>> without_repeats(torch.tensor([[4, 2, -1, 4]]))
    tensor([[-1,  2,  4, -1]])
    """
    places = places.sort(1).values
    again = torch.nn.functional.pad(places[:, 1:] == places[:, :-1], (1, 0))
    return places.masked_fill(again, -1)


def engine() -> Any:
    """FAISS, whose own types do not know what its Python side takes."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise PolymodalError(
            "This kind of index needs FAISS, which is not installed: pip install faiss-cpu. "
            "The kind exact needs nothing."
        ) from error


def parameters(settings: Settings, count: int, only: Filter | None, items: int) -> Any:
    """How widely FAISS searches, and among which items."""
    faiss = engine()
    among = None
    if only is not None:
        allowed = np.zeros(items, bool)
        allowed[only.places.cpu().numpy()] = True
        among = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
    if settings.kind == "ivf":
        return faiss.SearchParametersIVF(nprobe=settings.probes, sel=among)
    if settings.kind == "hnsw":
        return faiss.SearchParametersHNSW(efSearch=max(settings.effort, count), sel=among)
    return faiss.SearchParameters(sel=among)


def build_nearest(
    measure: str,
    embeddings: Embeddings,
    side: Side,
    settings: Settings,
    advance: Callable[[int], None] = lambda count: None,
) -> Nearest:
    """Lift every item and give it to FAISS, block by block; `advance` is told how many are done."""
    lift = ItemLift(measure, embeddings, side, whole=settings.kind == "flat")
    lists = lists_of(settings, len(embeddings))
    sample = lift.sample(lists * SAMPLE if settings.kind == "ivf" else 1)
    product = lift.queries.metric == "inner product"
    parts = tuple(empty(vectors, settings, lists, product) for vectors in sample)
    for block in lift:
        for part, vectors in zip(parts, block, strict=True):
            part.add(vectors)
        advance(len(block[0]))
    return Nearest(lift.queries, parts, settings)


def lists_of(settings: Settings, count: int) -> int:
    """How many lists an IVF index has.

    >>> lists_of(Settings(), 1_000_000), lists_of(Settings(), 1000), lists_of(Settings(), 5)
    (4000, 25, 1)
    """
    usual = max(1, min(round(4 * count**0.5), count // LEAST))
    return min(settings.lists or usual, count)


def empty(sample: np.ndarray, settings: Settings, lists: int, product: bool) -> Any:
    """A FAISS index that waits for its items."""
    faiss = engine()
    width = sample.shape[1]
    if settings.kind == "flat":
        return faiss.IndexFlatIP(width) if product else faiss.IndexFlatL2(width)
    if settings.kind == "hnsw":
        graph = faiss.IndexHNSWFlat(width, settings.links)
        graph.hnsw.efConstruction = settings.building
        return graph
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, lists)
    index.cp.min_points_per_centroid = 1  # few items make few lists: no reason to complain
    index.cp.seed = 0
    index.train(sample)
    return index
