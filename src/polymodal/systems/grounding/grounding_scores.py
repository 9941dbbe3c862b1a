"""All scores of grounding on a split."""

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.metrics.grounding import (
    baselines,
    by_type,
    grounding_scores,
    matches,
    pointed,
)
from polymodal.metrics.uncertainty import aurc, error_auroc
from polymodal.systems.grounding.phrases import Phrases


def selection_scores(
    phrases: Phrases, attention: Float[Tensor, "p r"], proposals: Float[Tensor, "p r 4"]
) -> dict[str, float]:
    """Recall at 1, 5 and 10 and pointing accuracy, any true box of a phrase counting."""
    return grounding_scores(attention, matches(proposals, phrases.boxes))


def all_scores(
    phrases: Phrases, attention: Float[Tensor, "p r"], proposals: Float[Tensor, "p r 4"]
) -> dict[str, float]:
    """The same, also with the box around all true boxes; by type of phrase; what needs no model; and how
    well the entropy of attention predicts errors of pointing."""
    found = matches(proposals, phrases.boxes)
    joint = grounding_scores(attention, matches(proposals, phrases.boxes, union=True))
    names = dict.fromkeys(name for own in phrases.types for name in own)
    types = {name: torch.tensor([name in own for own in phrases.types]) for name in names}
    wrong = (~pointed(attention, found)).long()
    told = {
        "phrases": float(len(phrases)),
        **grounding_scores(attention, found),
        **{f"{name}_union": value for name, value in joint.items()},
        **baselines(proposals, found),
        **by_type(attention, found, types),
        "attention_entropy": entropy(attention).mean().item(),
    }
    auroc = error_auroc(wrong, entropy(attention))
    if auroc is not None:
        told["entropy_auroc"] = auroc
    return told | aurc(wrong, entropy(attention))


def entropy(attention: Float[Tensor, "p r"]) -> Float[Tensor, " p"]:
    """The entropy, in nats, of a phrase's attention as a distribution over its proposals.

    >>> entropy(torch.tensor([[0.5, 0.5, 0.0]]))
    tensor([0.6931])
    """
    share = attention / attention.sum(-1, keepdim=True)
    return -torch.xlogy(share, share).sum(-1)
