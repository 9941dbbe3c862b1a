"""How well classes are recognised that were never seen (Xian et al., 2017): accuracies in percent.

Each class that has images counts alike, however many they are. (torchmetrics' macro average also counts
classes that have none, as wrong, once one of them is named.)
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError


def per_class(right: Bool[Tensor, " n"], labels: Int[Tensor, " n"]) -> float:
    """The mean over classes of the share of their images that is right.

    >>> per_class(torch.tensor([True, True, True, False]), torch.tensor([5, 5, 5, 7]))
    50.0
    """
    if not len(labels):
        raise PolymodalError("There are no images to recognise. Take a split that has some.")
    _, places, counts = labels.unique(return_inverse=True, return_counts=True)
    sums = torch.zeros(len(counts), dtype=torch.double, device=labels.device)
    sums.index_add_(0, places, right.double())
    return 100 * (sums / counts).mean().item()


def top1(
    scores: Float[Tensor, "n c"], labels: Int[Tensor, " n"], among: Bool[Tensor, " c"]
) -> float:
    """How often the class with the highest score, of those that may be named, is the right one."""
    check_classes(labels, among)
    guess = scores.masked_fill(~among, -torch.inf).argmax(1)
    return per_class(guess == labels, labels)


def harmonic(a: float, b: float) -> float:
    """2 a b / (a + b), and 0 where both are.

    >>> harmonic(60.0, 30.0), harmonic(0.0, 0.0)
    (40.0, 0.0)
    """
    return 2 * a * b / (a + b) if a + b else 0.0


def check_classes(labels: Int[Tensor, " n"], among: Bool[Tensor, " c"]) -> None:
    """An image whose own class may not be named cannot be right."""
    lost = labels[~among[labels]]
    if len(lost):
        raise PolymodalError(
            f"Class {int(lost[0])} is not among those that may be named, but has images here. "
            "Name all classes of the split."
        )
