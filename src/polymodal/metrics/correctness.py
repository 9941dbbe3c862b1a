"""Correctness: which words of a text a judge finds in the picture (004, §4 and §5.4).

The text is given (conditional samples) or generated with the picture (joint samples); the judge is
trained on real pictures alone (`nn.word_readers`). All figures are percentages; a standard error is that of
the mean over texts, since the words of one text are not independent.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.metrics.estimates import mean

RELATION = "relation"
"""The attribute that `correctness` leaves out, and `correctness_all` counts too."""


def correctness(
    asked: Int[Tensor, "b t"], read: Int[Tensor, "b t"], attributes: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """The share of a text's words that are those which the judge reads at their places (004, §5.4).

    `attributes` has the places of each. Gives `correctness` over all of them but the relation,
    `correctness_all` over all, where there is a relation, and `correctness_ATTRIBUTE` of each.

    >>> asked, read = torch.tensor([[3, 1, 4], [3, 2, 4]]), torch.tensor([[3, 1, 5], [3, 1, 4]])
    >>> scores = correctness(asked, read, {"size": [0], "relation": [1], "shape": [2]})
    >>> scores["correctness"], scores["correctness_all"], scores["correctness_shape_error"]
    (75.0, 66.66666666666667, 50.0)
    """
    right = 100.0 * (asked == read).double()
    groups = {
        "correctness": [p for n, places in attributes.items() if n != RELATION for p in places]
    }
    if RELATION in attributes:
        groups["correctness_all"] = [p for places in attributes.values() for p in places]
    groups |= {f"correctness_{name}": list(at) for name, at in attributes.items()}
    scores: dict[str, float] = {}
    for name, places in groups.items():
        scores |= mean(right[:, places].mean(1)).named(name)
    return scores


def bag_correctness(
    asked: Int[Tensor, "b t"], probabilities: Float[Tensor, "b v"], blank: int | None = None
) -> dict[str, float]:
    """The share of a text's words, in whatever order, that the judge finds likelier than not (004, §5.4).

    Blanks are no words; a text of blanks alone says nothing and is left out.

    >>> bag_correctness(torch.tensor([[0, 1, 1, 2]]), torch.tensor([[0.9, 0.8, 0.3]]), blank=0)
    {'correctness': 66.66666666666667}
    """
    words = torch.ones_like(asked, dtype=torch.bool) if blank is None else asked != blank
    seen = probabilities.gather(1, asked) > 0.5
    count = words.sum(1)
    if not count.any():
        raise PolymodalError(f"None of the {len(asked)} texts says a word: all are blank.")
    shares = 100.0 * (seen & words).sum(1).double() / count
    return mean(shares[count > 0]).named("correctness")
