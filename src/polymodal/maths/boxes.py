"""Boxes x0, y0, x1, y1: how far they overlap, what encloses them, what lies in them."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def areas(boxes: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n"]:
    """The area of each box; that of one turned inside out is 0."""
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1)


def iou(a: Float[Tensor, "*b m 4"], b: Float[Tensor, "*b n 4"]) -> Float[Tensor, "*b m n"]:
    """Intersection over union of every box with every other; that of two empty boxes is 0.

    >>> iou(torch.tensor([[0.0, 0, 2, 2]]), torch.tensor([[1.0, 0, 3, 2], [5, 5, 6, 6]])).tolist()
    [[0.3333333432674408, 0.0]]
    """
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    joint = areas(a)[..., :, None] + areas(b)[..., None, :] - shared
    return shared / joint.clamp(min=torch.finfo(a.dtype).tiny)


def enclosing(boxes: Float[Tensor, "*b n 4"]) -> Float[Tensor, "*b 4"]:
    """The smallest box around several: what the field calls their union."""
    return torch.cat([boxes[..., :2].amin(-2), boxes[..., 2:].amax(-2)], -1)


def centres(boxes: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 2"]:
    """The middle of each box."""
    return (boxes[..., :2] + boxes[..., 2:]) / 2


def inside(
    points: Float[Tensor, "*b m 2"], boxes: Float[Tensor, "*b n 4"]
) -> Bool[Tensor, "*b m n"]:
    """Whether each point lies in each box, its edges among it."""
    p = points[..., :, None, :]
    return ((boxes[..., None, :, :2] <= p) & (p <= boxes[..., None, :, 2:])).all(-1)
