"""Which boxes are kept where many lie upon each other."""

import numpy as np
import torch
from jaxtyping import Float, Int64

from polymodal.maths.boxes import iou


def distinct(
    boxes: Float[np.ndarray, "n 4"], count: int, overlap: float
) -> Int64[np.ndarray, " k"]:
    """The places of the first boxes, at most `count`, that share no more than `overlap` of their union
    with one kept before: non-maximum suppression of boxes whose best come first.

    >>> distinct(np.array([[0.0, 0, 9, 9], [0, 0, 9, 8], [5, 5, 9, 9]]), 3, 0.5).tolist()
    [0, 2]
    """
    kept: list[int] = []
    left = np.arange(len(boxes))
    tensor = torch.from_numpy(np.ascontiguousarray(boxes))
    while len(left) and len(kept) < count:
        first, left = left[0], left[1:]
        kept.append(first)
        left = left[(iou(tensor[first : first + 1], tensor[left])[0] <= overlap).numpy()]
    return np.array(kept, np.int64)
