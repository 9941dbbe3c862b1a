"""The finder `windows`: a grid of windows of several sizes and shapes, the same in every picture."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32, UInt8

from polymodal.nn.regions.finding import Found, PictureFinder

SHAPES = (1.0, 0.5, 2.0)
"""Width over height, in sides of the picture."""

FINER = 0.7
"""How many times smaller the windows of each next size are."""


class Windows(PictureFinder):
    """The largest windows of all places and shapes, then smaller ones, until there are `count`."""

    def __init__(self, count: int) -> None:
        self.count = count

    def search(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[Found]:
        """The same boxes for each picture, in its sides."""
        windows = grid(self.count)
        sides = (np.array(picture.shape[1::-1] * 2, np.float32) for picture in pictures)
        return [Found.of(windows * side) for side in sides]


def grid(count: int) -> Float32[np.ndarray, "count 4"]:
    """The windows in sides of the picture; of the last size and shape some, evenly spread.

    >>> grid(1).tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    chosen = [np.array([[0.0, 0.0, 1.0, 1.0]])]
    scale, left = 1.0, count - 1
    while left:
        scale *= FINER
        for shape in SHAPES:
            level = windows(min(scale * shape**0.5, 1.0), min(scale / shape**0.5, 1.0))
            some = np.linspace(0, len(level) - 1, min(left, len(level))).round().astype(int)
            chosen.append(level[some])
            left -= len(some)
    return np.concatenate(chosen)[:count].astype(np.float32)


def windows(wide: float, high: float) -> np.ndarray:
    """Windows of one size, each covering at least half of the next."""
    across, down = (np.linspace(0, 1 - side, int(np.ceil(2 / side - 1))) for side in (wide, high))
    x, y = (place.ravel() for place in np.meshgrid(across, down))
    return np.stack([x, y, x + wide, y + high], 1)
