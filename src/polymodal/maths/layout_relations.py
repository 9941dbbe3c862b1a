"""How the boxes of a layout lie to each other: the six relations of a scene graph (003, B.3).

All are worked out for every ordered pair of a batch at once. Relation r of subject i to object j is
at [:, i, j, r]; an object has none to itself, nor to one that is not there.
"""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from polymodal.maths.boxes import centres

RELATIONS = ("left of", "right of", "above", "below", "inside", "surrounding")
"""Their names in order, as in "subject left of object"."""


def relations(boxes: Float[Tensor, "b o 4"], there: Bool[Tensor, "b o"]) -> Bool[Tensor, "b o o 6"]:
    """All relations that hold: the centres' in x and in y, and that of a box within another.

    >>> boxes = torch.tensor([[[0.0, 0, 9, 9], [1, 1, 5, 8]]])
    >>> found = relations(boxes, torch.ones(1, 2, dtype=torch.bool))
    >>> [RELATIONS[r] for r in found[0, 1, 0].nonzero().flatten()]
    ['left of', 'inside']
    """
    across, down = offsets(boxes)
    within = inside(boxes)
    held = [across > 0, across < 0, down > 0, down < 0, within, within.mT]
    return torch.stack(held, -1) & pairs(there)[..., None]


def one_relation(
    boxes: Float[Tensor, "b o 4"], there: Bool[Tensor, "b o"]
) -> Bool[Tensor, "b o o 6"]:
    """The one relation that sg2im gives a pair: inside or surrounding, else the side on which it lies.

    The side is the quadrant of the angle between the centres. Pairs exactly on a diagonal are left or
    right of each other, so that both directions agree; boxes with one centre, of which none is within
    the other, have no relation.
    """
    across, down = offsets(boxes)
    within = inside(boxes)
    beside = ~(within | within.mT)
    level = beside & (across.abs() >= down.abs())
    steep = beside & (across.abs() < down.abs())
    sides = [level & (across > 0), level & (across < 0), steep & (down > 0), steep & (down < 0)]
    return torch.stack([*sides, within, within.mT], -1) & pairs(there)[..., None]


WAYS: Mapping[str, Callable[..., Bool[Tensor, "b o o 6"]]] = {"all": relations, "one": one_relation}
"""Which relations a scene graph has, by name."""


def offsets(
    boxes: Float[Tensor, "b o 4"],
) -> tuple[Float[Tensor, "b o o"], Float[Tensor, "b o o"]]:
    """How far the centre of j is right of and below that of i, at [:, i, j]."""
    middle = centres(boxes)
    across, down = (middle[:, None] - middle[:, :, None]).unbind(-1)
    return across, down


def inside(boxes: Float[Tensor, "b o 4"]) -> Bool[Tensor, "b o o"]:
    """Whether i lies within j without touching its edges, as in sg2im, at [:, i, j]."""
    subject, object = boxes[:, :, None], boxes[:, None]
    low = (subject[..., :2] > object[..., :2]).all(-1)
    return low & (subject[..., 2:] < object[..., 2:]).all(-1)


def pairs(there: Bool[Tensor, "b o"]) -> Bool[Tensor, "b o o"]:
    """Whether i and j are two objects that are there."""
    others = ~torch.eye(there.shape[1], dtype=torch.bool, device=there.device)
    return there[:, :, None] & there[:, None] & others
