"""How much of the truth is among boxes that were found without it: the bound of whatever chooses."""

from collections.abc import Iterable

from jaxtyping import Float
from torch import Tensor

from polymodal.maths.boxes import iou


def box_recall(
    pairs: Iterable[tuple[Float[Tensor, "_ 4"], Float[Tensor, "_ 4"]]], overlap: float = 0.5
) -> dict[str, float]:
    """The share of true boxes, in per cent, that some proposal of their image overlaps by at least
    `overlap`, and their number.

    Args:
        pairs: true boxes and proposals of each image.
        overlap: intersection over union.

    >>> import torch
    >>> box = torch.tensor([[0.0, 0, 2, 2]])
    >>> box_recall([(box, box), (box, box + 1)])
    {'recall': 50.0, 'boxes': 2}
    """
    hits = boxes = 0
    for true, proposed in pairs:
        boxes += len(true)
        if len(true):
            hits += int((iou(true, proposed) >= overlap).any(1).sum())
    return {"recall": 100 * hits / boxes if boxes else float("nan"), "boxes": boxes}
