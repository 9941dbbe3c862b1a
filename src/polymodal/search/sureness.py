"""How sure an answer is: how often queries like it were answered rightly among as many items.

Two signals tell: how far the scores of the first ten hits lie above those of the next twenty, and the
best score. What they mean in an index is learned by `calibrating.calibrate`, and kept as a `Calibration`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, floor

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import softplus

from polymodal.base.errors import PolymodalError
from polymodal.search.facing import Side

WORDS = ((0.75, "sure"), (0.5, "fairly sure"), (0.25, "unsure"), (0.0, "guessing"))
"""The word for a chance of this much or more."""

FIRST = 10
"""A query is answered rightly if what it asks for is among so many first hits."""

DEPTH = 30
"""Hits whose scores tell how sure an answer is."""


@dataclass(frozen=True, kw_only=True)
class Sureness:
    """A word and the chance behind it, or none, and why."""

    word: str | None = None
    chance: float | None = None
    """That what was asked for is among the first ten."""
    why: str

    def __str__(self) -> str:
        return f"{self.word}: {self.why}" if self.word else f"not known how sure: {self.why}"


def word_for(chance: float) -> str:
    """A chance in plain words.

    >>> [word_for(chance) for chance in (0.8, 0.75, 0.6, 0.3, 0.1)]
    ['sure', 'sure', 'fairly sure', 'unsure', 'guessing']
    """
    return next(word for least, word in WORDS if chance >= least)


def signals(scores: Float[Tensor, "q k"]) -> Float[Tensor, "q 2"]:
    """What tells how sure answers are: the mean of the first ten scores less that of the next twenty, and
    the best score.

    >>> signals(torch.tensor([[5.0] * 10 + [3.0] * 20])).tolist()
    [[2.0, 5.0]]
    """
    scores = scores[:, :DEPTH].double()
    lead = scores[:, :FIRST].mean(1) - scores[:, FIRST:].mean(1)
    return torch.stack([lead, scores[:, 0]], 1).cpu()


Weights = tuple[float, float, float, float]
"""A constant, the weights of the two signals, and the bend."""


def log_odds(values: Float[Tensor, "q 2"], weights: Sequence[float]) -> Float[Tensor, " q"]:
    """Logistic regression with a bend at even odds: the slope is exp(bend) times as steep above them, and
    exp(−bend) times below (a beta calibration; Kull et al., 2017).

    >>> log_odds(torch.tensor([[2.0, 5.0]]), (0.0, 0.5, 0.4, 0.0))
    tensor([3.])
    """
    constant, lead, best, bend = weights
    line = constant + lead * values[:, 0] + best * values[:, 1]
    return exp(bend) * softplus(line) - exp(-bend) * softplus(-line)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The chance of a right answer as a function of the signals and of how many items are searched."""

    sizes: tuple[int, ...]
    """Rising numbers of items that were searched to learn from."""
    weights: tuple[Weights, ...]
    """What the signals say in searches of each size."""
    asked: Side
    """What the queries were."""
    queries: int
    split: str

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.sizes, self.sizes[1:], strict=False))
        if not self.sizes or len(self.sizes) != len(self.weights) or not rising:
            raise PolymodalError(
                "A calibration needs rising numbers of items and weights for each; found "
                f"{len(self.sizes)} numbers and {len(self.weights)} weights."
            )

    def place(self, items: int) -> float:
        """Where a number of items lies among the sizes, in logarithms; at an end if beyond it."""
        return float(np.interp(np.log(items), np.log(self.sizes), range(len(self.sizes))))

    def chances(self, scores: Float[Tensor, "q k"], items: int) -> Float[Tensor, " q"]:
        """The chances of some answers, from their first `DEPTH` scores (or all, of fewer items), best
        first, among so many items: between two sizes, log odds are linear in the logarithm."""
        values, place = signals(scores), self.place(items)
        below, above = (log_odds(values, self.weights[end(place)]) for end in (floor, ceil))
        return torch.lerp(below, above, place % 1).sigmoid()

    def sureness(self, chance: float, items: int) -> Sureness:
        """What is said of an answer with this chance among so many items."""
        place = self.place(items)
        tells = any(any(self.weights[end(place)][1:3]) for end in (floor, ceil))
        like = "queries like this" if tells else "queries"
        target = "their image" if self.asked == "caption" else "a caption of theirs"
        blind = "" if tells else ", and nothing tells this one from the others"
        why = (
            f"of {self.split} {like}, {100 * chance:.0f} % had {target} among the first {FIRST} "
            f"of {items}{blind}"
        )
        return Sureness(word=word_for(chance), chance=chance, why=why)
