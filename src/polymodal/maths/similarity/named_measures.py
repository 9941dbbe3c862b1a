"""Measures by their names, for configs, indexes and the command line."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import measures
from polymodal.maths.similarity.lifting import Lifting
from polymodal.maths.similarity.pairwise import Bhattacharyya, bhattacharyya

MEASURES: tuple[Lifting | Bhattacharyya, ...] = (
    measures.cosine,
    measures.mahalanobis,
    measures.kl,
    measures.min_kl,
    measures.wasserstein,
    measures.squared_wasserstein,
    measures.csd,
    bhattacharyya,
)


def measure(name: str) -> Lifting | Bhattacharyya:
    """The measure of that name.

    >>> measure("min_kl").kinds
    (('Gaussian', 'Gaussian'),)
    """
    for candidate in MEASURES:
        if candidate.name == name:
            return candidate
    raise unknown("similarity", name, [known.name for known in MEASURES])


def lifting(name: str) -> Lifting:
    """The measure of that name, if it can be searched as inner products or L2 distances."""
    named = measure(name)
    if isinstance(named, Lifting):
        return named
    raise PolymodalError(
        f"{name} is no inner product of lifted vectors, so no index can search it. "
        "Search it exactly, by `top_k`, or choose another similarity."
    )


def lift(
    name: str, embeddings: Any, side: str, frame: DiagonalGaussian | None = None
) -> tuple[Float[Tensor, "k w"], ...]:
    """Vectors that rank as the measure of that name does, searched as `lifting(name).metric` says.

    Both sides need the same frame: none, or the `centre` of the indexed items for more digits.
    """
    return lifting(name).lift(embeddings, side, frame)
