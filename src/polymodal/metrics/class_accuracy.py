"""How well classes are recognised that were never seen (Xian et al., 2017): accuracies in percent.

Each class counts alike, however many images it has. In the generalised setting an image may be taken
for a seen class too, which a model favours: calibrated stacking takes a handicap off the scores of
seen classes (Chao et al., 2016).
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
    check(labels, among)
    guess = scores.masked_fill(~among, -torch.inf).argmax(1)
    return per_class(guess == labels, labels)


def generalised(
    scores: Float[Tensor, "n c"],
    labels: Int[Tensor, " n"],
    seen: Bool[Tensor, " c"],
    handicap: float = 0.0,
) -> dict[str, float]:
    """Accuracies on images of seen and of unseen classes when all may be named, and their harmonic mean."""
    guess = (scores - handicap * seen).argmax(1)
    right, known = guess == labels, seen[labels]
    found = {
        "gzsl_seen": per_class(right[known], labels[known]),
        "gzsl_unseen": per_class(right[~known], labels[~known]),
    }
    return found | {"gzsl_harmonic": harmonic(*found.values())}


def best_handicap(
    scores: Float[Tensor, "n c"], labels: Int[Tensor, " n"], seen: Bool[Tensor, " c"]
) -> float:
    """The handicap of seen classes with the best harmonic mean; to be found on validation classes.

    Only where the best seen and the best unseen score of an image are level can anything change: the
    handicaps tried lie between those.
    """
    best = [scores.masked_fill(~some, -torch.inf).amax(1) for some in (seen, ~seen)]
    levels = (best[0] - best[1]).unique()
    ends = torch.stack([levels[0] - 1, levels[-1] + 1])
    between = torch.cat([ends, (levels[1:] + levels[:-1]) / 2])
    few = between[torch.linspace(0, len(between) - 1, min(len(between), 500)).long()]
    means = [
        generalised(scores, labels, seen, handicap)["gzsl_harmonic"] for handicap in few.tolist()
    ]
    return float(few[torch.tensor(means).argmax()])


def harmonic(a: float, b: float) -> float:
    """2 a b / (a + b), and 0 where both are.

    >>> harmonic(60.0, 30.0), harmonic(0.0, 0.0)
    (40.0, 0.0)
    """
    return 2 * a * b / (a + b) if a + b else 0.0


def check(labels: Int[Tensor, " n"], among: Bool[Tensor, " c"]) -> None:
    """An image whose own class may not be named cannot be right."""
    lost = labels[~among[labels]]
    if len(lost):
        raise PolymodalError(
            f"Class {int(lost[0])} is not among those that may be named, but has images here. "
            "Name all classes of the split."
        )
