"""How well phrases are grounded: recall of boxes, pointing, and what no model at all would reach (002, §3.1).

A phrase has scores of an image's proposals [p r]; `hit` says which of them overlap a true box with an IoU
of 0.5 or more, `inside` whose centre lies in one, `there` which are proposals and no padding. All results
are percentages of phrases. Ties count against the model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.maths.boxes import areas, centres, enclosing, inside, iou

OVERLAP = 0.5
"""The least IoU of a box that counts as found."""

FIRST = (1, 5, 10)
"""The k of recall at k."""


@dataclass(frozen=True)
class Matches:
    """Which proposals are right for each phrase."""

    hit: Bool[Tensor, "p r"]
    inside: Bool[Tensor, "p r"]
    there: Bool[Tensor, "p r"]


def matches(
    proposals: Float[Tensor, "p r 4"], true: Float[Tensor, "p g 4"], *, union: bool = False
) -> Matches:
    """Compare proposals with the true boxes of each phrase, any of which counts, or with the one box
    around them all (`union`). Rows of area 0 are padding."""
    there, real = areas(proposals) > 0, areas(true) > 0
    if union:
        first = true.gather(1, real.int().argmax(1)[:, None, None].expand(-1, 1, 4))
        true = enclosing(torch.where(real[..., None], true, first))[:, None]
        real = real.any(1, keepdim=True)
    hit = (iou(proposals, true) >= OVERLAP) & real[:, None]
    within = inside(centres(proposals), true) & real[:, None]
    return Matches(hit.any(-1) & there, within.any(-1) & there, there)


def ranks(scores: Float[Tensor, "p r"], found: Matches) -> Int[Tensor, " p"]:
    """The place of the first right proposal, from 0; r where there is none."""
    scores = scores.masked_fill(~found.there, -torch.inf)
    best = scores.masked_fill(~found.hit, -torch.inf).amax(1, keepdim=True)
    ahead = (scores >= best) & found.there & ~found.hit
    return torch.where(found.hit.any(1), ahead.sum(1), scores.shape[1])


def pointed(scores: Float[Tensor, "p r"], found: Matches) -> Bool[Tensor, " p"]:
    """Whether the centre of the best proposal lies in a true box."""
    scores = scores.masked_fill(~found.there, -torch.inf)
    best = scores == scores.amax(1, keepdim=True)
    return (found.inside | ~(best & found.there)).all(1)


def grounding_scores(scores: Float[Tensor, "p r"], found: Matches) -> dict[str, float]:
    """Recall at 1, 5 and 10, and pointing accuracy."""
    rank = ranks(scores, found)
    recalls = {f"r{k}": percent(rank < k) for k in FIRST}
    return {**recalls, "pointing": percent(pointed(scores, found))}


def by_type(
    scores: Float[Tensor, "p r"], found: Matches, types: Mapping[str, Bool[Tensor, " p"]]
) -> dict[str, float]:
    """Recall at 1, pointing accuracy and the number of phrases, of each type of phrase."""
    right, pointing = ranks(scores, found) < 1, pointed(scores, found)
    told: dict[str, float] = {}
    for name, of_type in types.items():
        told[f"r1_{name}"] = percent(right[of_type])
        told[f"pointing_{name}"] = percent(pointing[of_type])
        told[f"phrases_{name}"] = float(of_type.sum())
    return told


def baselines(proposals: Float[Tensor, "p r 4"], found: Matches) -> dict[str, float]:
    """What needs no model: a random proposal (its expectation), the largest, the one nearest to the middle
    of all; and the share of phrases for which some proposal is right, which bounds every recall."""
    area = areas(proposals)
    middle = enclosing(torch.where(found.there[..., None], proposals, proposals[:, :1]))
    away = (centres(proposals) - centres(middle)[:, None]).norm(dim=-1)
    told = {"upper_bound": percent(found.hit.any(1)), **random_choice(found)}
    for name, scores in (("largest", area), ("central", -away)):
        own = grounding_scores(scores, found)
        told |= {name: own["pointing"], f"{name}_r1": own["r1"]}
    return told


def random_choice(found: Matches) -> dict[str, float]:
    """The expected pointing accuracy and recall at 1 of a proposal drawn at random."""
    count = found.there.sum(1)
    return {
        "random": 100 * (found.inside.sum(1) / count).mean().item(),
        "random_r1": 100 * (found.hit.sum(1) / count).mean().item(),
    }


def percent(right: Bool[Tensor, " p"]) -> float:
    """The share of phrases that are right."""
    return 100 * right.double().mean().item()
