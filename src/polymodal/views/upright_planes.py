"""Planes of volumes as radiologists look at them: front or top above, the patient's right on the left."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Shaped


@dataclass(frozen=True)
class Turn:
    """How a plane is turned, and how large its pixels are then; by default it stays as it is."""

    swapped: bool = False
    flipped: tuple[bool, bool] = (False, False)
    pixel: tuple[float, float] = (1.0, 1.0)
    """Height and width in mm."""

    def __call__(self, plane: Shaped[np.ndarray, "h w"]) -> Shaped[np.ndarray, "k l"]:
        """The plane, turned."""
        found = plane.T if self.swapped else plane
        return found[tuple(slice(None, None, -1 if own else 1) for own in self.flipped)]


def upright(affine: Float64[np.ndarray, "4 4"], along: int) -> Turn:
    """How planes of a volume are turned.

    Args:
        affine: where voxel i, j, k lies to the patient's right, front and top; axes of arrays are k, j, i.
        along: the axis of the array along which the planes lie.

    >>> upright(np.diag([1.0, 2.0, 3.0, 1.0]), 0)
    Turn(swapped=False, flipped=(True, True), pixel=(2.0, 1.0))
    """
    steps = [affine[:3, 2 - axis] for axis in range(3) if axis != along]
    towards = [int(np.abs(step).argmax()) for step in steps]
    swapped = towards[0] != towards[1] and towards[1] == max(towards)
    if swapped:
        steps, towards = steps[::-1], towards[::-1]
    row, column = (
        (bool(step[way] > 0), float(np.linalg.norm(step)))
        for step, way in zip(steps, towards, strict=True)
    )
    return Turn(swapped, (row[0], column[0]), (row[1], column[1]))
