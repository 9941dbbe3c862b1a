"""The Inception score: how sure a classifier is of each picture, and how many classes it finds (003, B.4)."""

import statistics
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import check_count

SPLITS = 5
"""What the paper settled on; fewer splits of the same pictures give a higher score."""


@dataclass(frozen=True)
class InceptionScore:
    """The score of each split."""

    each: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over splits."""
        return statistics.fmean(self.each)

    @property
    def spread(self) -> float:
        """The standard deviation over splits, divided by their number as the authors do."""
        return statistics.pstdev(self.each)


def inception_score(logits: Float[Tensor, "n k"], splits: int = SPLITS) -> InceptionScore:
    """exp E KL(p(y|x) ‖ p(y)) of each of several splits of the pictures as they come.

    torchmetrics shuffles them by torch's global generator, so the same pictures score differently every
    time; its spread is over splits less one.

    Args:
        logits: the classifier's, of pictures in an order that has nothing to do with what they show.
        splits: how many.

    >>> inception_score(100 * torch.eye(4).repeat(2, 1), splits=2).each
    (4.0, 4.0)
    """
    check_count("splits", splits, "how many parts the pictures are scored in")
    if len(logits) < splits:
        raise PolymodalError(
            f"An Inception score of {splits} splits needs as many pictures or more; found {len(logits)}."
        )
    log = logits.double().log_softmax(1)
    return InceptionScore(tuple(of_split(part) for part in log.tensor_split(splits)))


def of_split(log: Float[Tensor, "n k"]) -> float:
    """The score of one split, of the classes' log-probabilities."""
    marginal = log.logsumexp(0) - torch.tensor(float(len(log)), dtype=log.dtype).log()
    return (log.exp() * (log - marginal)).sum(1).mean().exp().item()
