"""Items and queries lifted to vectors that FAISS and Milvus can search.

W2 is the L2 distance of lifted vectors, which everything searches. The other similarities are inner
products: where every item is compared they stay so, for lists and graphs they become L2 distances by
`spheres`. min-KL has two lifts, and the better counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, centre, lifting
from polymodal.maths.similarity.lifting import Metric
from polymodal.search.facing import Side, facing, other
from polymodal.search.spheres import Sphere, sphere, toward

BYTES = 2**24
"""The most that a block of lifted vectors takes."""

SAMPLE = 4096
"""Items that stand for the queries to come."""

Vectors = tuple[Float32[np.ndarray, "b _"], ...]
"""Some items or queries, for each lift."""


@dataclass(frozen=True)
class QueryLift:
    """How queries are lifted, to be kept with what was made of the items."""

    measure: str
    side: Side
    """What the items are; queries are lifted as the other."""
    frame: DiagonalGaussian
    scales: tuple[Float[Tensor, " w"], ...] = ()
    """The scale of each lift's sphere, if items lie on one."""

    @torch.no_grad()
    def __call__(self, queries: Embeddings) -> Vectors:
        """The vectors of some queries."""
        lifted = lifting(self.measure).lift(queries, other(self.side), self.frame)
        if self.scales:
            lifted = tuple(map(toward, self.scales, lifted))
        return tuple(map(rows, lifted))

    @property
    def metric(self) -> Metric:
        """How vectors are compared."""
        return "l2" if self.scales else lifting(self.measure).metric

    def widths(self, items: Embeddings) -> tuple[int, ...]:
        """How wide the vectors of each lift are: an item stands for a query."""
        some = self(facing(self.measure, items[:1], items))
        return tuple(vectors.shape[1] for vectors in some)


class ItemLift:
    """All items lifted, block by block, as often as they are asked for.

    Args:
        measure: the name of the similarity.
        embeddings: the items.
        side: what they are.
        whole: whether every item will be compared, so that products can stay products.
    """

    def __init__(self, measure: str, embeddings: Embeddings, side: Side, *, whole: bool) -> None:
        self.measure, self.embeddings, self.side = measure, embeddings, side
        self.frame = centre(embeddings)
        product = lifting(measure).metric == "inner product"
        self.spheres = self._spheres() if product and not whole else ()

    @property
    def queries(self) -> QueryLift:
        """How queries are lifted, to meet these items."""
        scales = tuple(sphere.scale for sphere in self.spheres)
        return QueryLift(self.measure, self.side, self.frame, scales)

    @torch.no_grad()
    def of(self, some: Embeddings) -> Vectors:
        """The vectors of some items."""
        lifted = self._lift(some)
        if self.spheres:
            lifted = tuple(place(x) for place, x in zip(self.spheres, lifted, strict=True))
        return tuple(map(rows, lifted))

    def __iter__(self) -> Iterator[Vectors]:
        return (self.of(block) for block in self._blocks())

    def sample(self, count: int) -> Vectors:
        """The vectors of some of the items."""
        places = sampled(len(self.embeddings), count)
        blocks = [self.of(self.embeddings[some]) for some in places.split(self._step)]
        return tuple(np.concatenate(lift) for lift in zip(*blocks, strict=True))

    @property
    def _step(self) -> int:
        """Items of a block."""
        return max(1, BYTES // (8 * (self.embeddings.shape[-1] + 1)))

    def _lift(self, some: Embeddings) -> tuple[Float[Tensor, "b w"], ...]:
        return lifting(self.measure).lift(some, self.side, self.frame)

    def _blocks(self) -> Iterator[Embeddings]:
        for start in range(0, len(self.embeddings), self._step):
            yield self.embeddings[start : start + self._step]

    def _spheres(self) -> tuple[Sphere, ...]:
        """The sphere of each lift; some items stand for the queries to come."""
        some = self.embeddings[sampled(len(self.embeddings), SAMPLE)]
        some = facing(self.measure, some, self.embeddings)
        queries = lifting(self.measure).lift(some, other(self.side), self.frame)
        return tuple(
            sphere(partial(self._lifted, lift), asking) for lift, asking in enumerate(queries)
        )

    def _lifted(self, lift: int) -> Iterator[Float[Tensor, "b w"]]:
        return (self._lift(block)[lift] for block in self._blocks())


def rows(vectors: Float[Tensor, "b w"]) -> Float32[np.ndarray, "b w"]:
    """Vectors for other programs."""
    return vectors.cpu().float().contiguous().numpy()


def sampled(items: int, count: int) -> Int[Tensor, " n"]:
    """The places of some of the items, always the same."""
    draw = torch.Generator().manual_seed(0)
    return torch.randperm(items, generator=draw)[:count].sort().values
