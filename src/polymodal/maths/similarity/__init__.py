"""Score matrices between two batches of embeddings, higher for more alike; ranks and top-k by blocks.

A *measure* is any function of m images and n captions that gives their m×n scores. Embeddings are
whatever the measure takes, so long as they have a length and can be indexed by a tensor.

>>> import torch
>>> from polymodal.maths.diagonal_gaussian import DiagonalGaussian
>>> cosine(torch.tensor([[3.0, 4.0]]), torch.tensor([[6.0, 8.0], [-4.0, 3.0]]))
tensor([[1., 0.]])
>>> images = DiagonalGaussian(torch.zeros(1, 2), torch.zeros(1, 2))
>>> captions = DiagonalGaussian(torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.zeros(2, 2))
>>> kl(images, captions)
tensor([[-12.5000,   0.0000]])
"""

from polymodal.maths.similarity.blockwise import TIE, best_scores, ranks, slack, top_k
from polymodal.maths.similarity.kinds import Embeddings, Kind, joined
from polymodal.maths.similarity.lifting import Held, Lifting, Measure, centre, hold, turned
from polymodal.maths.similarity.measures import (
    cosine,
    csd,
    kl,
    mahalanobis,
    min_kl,
    squared_wasserstein,
    wasserstein,
)
from polymodal.maths.similarity.named_measures import MEASURES, lift, lifting, measure
from polymodal.maths.similarity.pairwise import Bhattacharyya, bhattacharyya

__all__ = [
    "MEASURES",
    "TIE",
    "Bhattacharyya",
    "Embeddings",
    "Held",
    "Kind",
    "Lifting",
    "Measure",
    "best_scores",
    "bhattacharyya",
    "centre",
    "cosine",
    "csd",
    "hold",
    "joined",
    "kl",
    "lift",
    "lifting",
    "mahalanobis",
    "measure",
    "min_kl",
    "ranks",
    "slack",
    "squared_wasserstein",
    "top_k",
    "turned",
    "wasserstein",
]
