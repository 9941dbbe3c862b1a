"""The losses of a detector of centres (Zhou et al., 2019)."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, l1_loss, logsigmoid

from polymodal.nn.centre_points import PointMaps, centre_places, gathered, heat_of


def focal_loss(heat: Float[Tensor, "b i j"], target: Float[Tensor, "b i j"]) -> Float[Tensor, ""]:
    """−(1 − p)² log p at centres and −(1 − t)⁴ p² log(1 − p) elsewhere, a centre.

    Args:
        heat: logits of p.
        target: t, which is 1 at centres alone.
    """
    p, centre = heat.sigmoid(), target == 1
    right = (1 - p).square() * logsigmoid(heat)
    wrong = (1 - target) ** 4 * p.square() * logsigmoid(-heat)
    return -torch.where(centre, right, wrong).sum() / centre.sum().clamp(min=1)


def spotting_losses(
    maps: PointMaps,
    boxes: Float[Tensor, "b o 4"],
    classes: Int[Tensor, "b o"],
    there: Bool[Tensor, "b o"],
) -> dict[str, Float[Tensor, ""]]:
    """What is wrong with the centres, and at true ones with the classes and boxes, each a mean over
    objects."""
    rows, columns = maps.heat.shape[1:]
    place, offset, sides = centre_places(boxes, rows, columns)
    count = there.sum().clamp(min=1)
    told = {
        "offset": l1_loss(gathered(maps.offset, place)[there], offset[there], reduction="sum"),
        "extent": l1_loss(gathered(maps.extent, place)[there], sides[there].log(), reduction="sum"),
        "classes": cross_entropy(
            gathered(maps.classes, place)[there], classes[there], reduction="sum"
        ),
    }
    focal = focal_loss(maps.heat, heat_of(boxes, there, rows, columns))
    return {"centres": focal, **{name: value / count for name, value in told.items()}}
