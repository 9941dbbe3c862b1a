"""How sure an answer is: how often queries like it were answered rightly, on a split with known answers.

The signal is the score of a query's best hit or, where queries are Gaussian, their log det Σ, whichever
tells right answers from wrong ones better on that split. Which of its values mean a right answer is
learned, not assumed: isotonic regression finds the chance that rises with the signal, or falls.
"""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, measure, ranks, top_k
from polymodal.search.facing import Side, asked_first, other

WORDS = ((0.75, "sure"), (0.5, "fairly sure"), (0.25, "unsure"), (0.0, "guessing"))
"""The word for a chance of this much or more."""

FIRST = 10
"""A query is answered rightly if what it asks for is among so many first hits."""

GROUP = 20
"""Queries behind every chance: fewer would make one of them tell 0 % or 100 %."""

Signal = Literal["log_det", "best_score"]


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


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The chance of a right answer as a function of a signal, from one labelled split."""

    signal: Signal
    values: tuple[float, ...]
    """Rising values of the signal; between them the chance is a straight line, beyond them constant."""
    chances: tuple[float, ...]
    tells: bool
    """Whether the signal tells right answers from wrong ones at all; if not, one chance is for all."""
    asked: Side
    """What the queries were."""
    queries: int
    items: int
    split: str

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.values, self.values[1:], strict=False))
        if not self.values or len(self.values) != len(self.chances) or not rising:
            raise PolymodalError(
                "A calibration needs rising values of its signal and a chance for each; found "
                f"{len(self.values)} values and {len(self.chances)} chances."
            )

    def sureness(self, value: float) -> Sureness:
        """How sure an answer is whose query has this signal."""
        chance = float(np.interp(value, self.values, self.chances))
        like = "queries like this" if self.tells else "queries"
        own = "their image" if self.asked == "caption" else "a caption of theirs"
        blind = "" if self.tells else ", and nothing tells this one from the others"
        why = (
            f"of {self.split} {like}, {100 * chance:.0f} % had {own} among the first {FIRST} "
            f"of {self.items}{blind}"
        )
        return Sureness(word=word_for(chance), chance=chance, why=why)


def signals(queries: Embeddings, best: Float[Tensor, " q"]) -> dict[Signal, Float[Tensor, " q"]]:
    """What may tell how sure the answers to some queries are, given the scores of their best hits."""
    found: dict[Signal, Tensor] = {"best_score": best}
    if isinstance(queries, DiagonalGaussian):
        found["log_det"] = queries.log_det()
    return found


def telling(values: Float[np.ndarray, " q"], right: Float[np.ndarray, " q"]) -> float:
    """How far the AUROC of being right as told by a signal is from a half, either way."""
    from sklearn.metrics import roc_auc_score

    if len(set(right)) == 1:
        return 0.0
    return abs(float(roc_auc_score(right, values)) - 0.5)


@torch.no_grad()
def calibrate(
    similarity: str,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    *,
    items: Side,
    split: str,
) -> Calibration:
    """Learn the chances from a split: caption j belongs to image `owner[j]`, and `items` are searched."""
    by_image, by_caption = ranks(measure(similarity), images, captions, owner)
    queries, rank, found = (
        (captions, by_caption, images) if items == "image" else (images, by_image, captions)
    )
    best, _ = top_k(asked_first(similarity, items), queries, found, 1)
    if len(rank) < GROUP:
        raise PolymodalError(
            f"{len(rank)} queries are too few to learn from how sure an answer is; "
            f"{GROUP} are needed."
        )
    right = (rank < FIRST).double().cpu().numpy()
    told = {name: v.double().cpu().numpy() for name, v in signals(queries, best[:, 0]).items()}
    signal = max(told, key=lambda name: telling(told[name], right))
    points, chances, tells = fit(told[signal], right)
    return Calibration(
        signal=signal,
        values=points,
        chances=chances,
        tells=tells,
        asked=other(items),
        queries=len(rank),
        items=len(found),
        split=split,
    )


def fit(
    values: Float[np.ndarray, " q"], right: Float[np.ndarray, " q"] | Bool[np.ndarray, " q"]
) -> tuple[tuple[float, ...], tuple[float, ...], bool]:
    """Signal values, the chance at each, and whether the signal tells anything.

    It tells nothing where the sign of its rank correlation with being right is in doubt.
    """
    from sklearn.isotonic import IsotonicRegression, check_increasing

    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        rises = check_increasing(values, right)
    if doubts or len(set(right)) == 1:
        return (float(values.mean()),), (float(right.mean()),), False
    groups = np.array_split(values.argsort(kind="stable"), len(values) // GROUP)
    centres = [values[group].mean() for group in groups]
    line = IsotonicRegression(increasing=bool(rises), y_min=0, y_max=1)
    line.fit(centres, [right[group].mean() for group in groups], [len(group) for group in groups])
    return tuple(map(float, line.X_thresholds_)), tuple(map(float, line.y_thresholds_)), True
