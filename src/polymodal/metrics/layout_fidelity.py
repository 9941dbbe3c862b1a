"""Whether a picture shows the objects of its layout where they were asked for, and no others (003, §6.4.6).

What a detector or a world's own reader found in a picture is matched with its layout: found objects
choose in the order of their scores, each the true object that it overlaps most, of those that are free.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.maths.boxes import iou

OVERLAP = 0.5
"""The least intersection over union of an object that counts as found."""


@dataclass(frozen=True)
class Objects:
    """The objects of a picture's layout: boxes x0, y0, x1, y1 in any unit, and classes."""

    boxes: Float[Tensor, "o 4"]
    classes: Int[Tensor, " o"]


@dataclass(frozen=True)
class FoundObjects(Objects):
    """Objects that were found in a picture, and how sure that is of each."""

    scores: Float[Tensor, " o"]


def layout_fidelity(
    pictures: Iterable[tuple[Objects, FoundObjects]], overlap: float = OVERLAP
) -> dict[str, float]:
    """How well layouts are kept.

    `fidelity` is the share of true objects, in percent, that are found at their place with their class;
    `placed` is that of objects at whose place anything is found. `spurious` is the number of objects a
    picture that are found but match no true object of their class.

    >>> box = torch.tensor([[0.0, 0, 1, 1]])
    >>> true = Objects(box, torch.tensor([3]))
    >>> other = FoundObjects(box, torch.tensor([4]), torch.ones(1))
    >>> told = layout_fidelity([(true, other)])
    >>> told["fidelity"], told["placed"], told["spurious"]
    (0.0, 100.0, 1.0)
    """
    right = placed = true_objects = found_objects = count = 0
    for true, found in pictures:
        near = iou(true.boxes.double(), found.boxes.double())
        alike = true.classes[:, None] == found.classes
        right += matched(near, found.scores, (near >= overlap) & alike)
        placed += matched(near, found.scores, near >= overlap)
        true_objects += len(true.boxes)
        found_objects += len(found.boxes)
        count += 1
    nan = float("nan")
    return {
        "fidelity": 100 * right / true_objects if true_objects else nan,
        "placed": 100 * placed / true_objects if true_objects else nan,
        "spurious": (found_objects - right) / count if count else nan,
        "objects": float(true_objects),
        "found": float(found_objects),
        "pictures": float(count),
    }


def matched(
    near: Float[Tensor, "g f"], scores: Float[Tensor, " f"], allowed: Bool[Tensor, "g f"]
) -> int:
    """How many found objects get a true one: the surest chooses first, the one that it overlaps most."""
    fits = torch.where(allowed, near, -1.0)
    if not fits.numel():
        return 0
    count = 0
    for chooser in scores.argsort(descending=True, stable=True).tolist():
        best, place = fits[:, chooser].max(0)
        if best >= 0:
            fits[place] = -1.0
            count += 1
    return count
