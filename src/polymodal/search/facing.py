"""Which side asks and which is asked: queries of the items' own side take the other's place."""

from typing import Literal

import torch

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, Measure, measure, turned
from polymodal.maths.similarity.kinds import kind_of

Side = Literal["image", "caption"]
SIDES: tuple[Side, Side] = ("image", "caption")


def other(side: Side) -> Side:
    """What the items of one side are usually asked for by."""
    return "caption" if side == "image" else "image"


def asked_first(name: str, items: Side) -> Measure:
    """The similarity of that name with queries as its first argument, for items of one side."""
    return turned(measure(name)) if items == "image" else measure(name)


def facing(name: str, queries: Embeddings, items: Embeddings) -> Embeddings:
    """Queries of the items' own side as the similarity of that name can compare them.

    Where it compares like with like they stay as they are: under KL, which is not symmetric, an image
    that asks for images counts as their caption. Mahalanobis compares a point with a Gaussian: where
    both would be Gaussian, the query counts by its mean, and where both would be points, it has the
    covariance 1, which makes the distance Euclidean.
    """
    kinds = (kind_of(queries), kind_of(items))
    if len(set(kinds)) > 1 or kinds in measure(name).kinds:
        return queries
    if isinstance(queries, DiagonalGaussian):
        return queries.mean
    return DiagonalGaussian(queries, torch.zeros_like(queries))
