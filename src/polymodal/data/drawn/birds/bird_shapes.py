"""What a picture is made of: shapes from the farthest to the nearest, as rows of numbers.

Places are in sides of the picture: x to the right, y down, z towards the viewer.
"""

from typing import NamedTuple

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector

BODY, LIMB, WING_BLADE, SHADOW, TAIL_BLADE, LEAF, EYE_DISC, DISC = 0, 1, 2, 3, 4, 5, 6, 7
"""The kinds of shape. A body and a limb are made of balls: the body is all of them, a limb what is
between one and the next. A wing, its shadow, a tail and a leaf are blades, which are flat."""

PLAIN, BARK, HORN = 0, 1, 2
"""The patterns of a limb: none, a branch's, a beak's."""

KIND, PART, LEFT, TOP, RIGHT, BOTTOM, FIRST, LAST = 0, 1, 2, 3, 4, 5, 6, 7
ORIGIN, ALONG, ASIDE, FACING, UNIT, FORM, PATTERN = 8, 10, 12, 14, 17, 18, 19
SOFT, OPACITY, COLOUR, SHAPE = 20, 21, 22, 25
"""The columns of a shape, and their number: its kind, its part (1 more than the place in PARTS, 0 for
none), its bounds, its balls [first, last), a blade's origin and the two rows that take a place of the
picture to the blade's own, which way it faces, its length, its form and pattern, how soft its edge
is, how opaque it is and its colour."""

X, Y, Z, RADIUS, BACK, FRONT, SIDE, AT = 0, 1, 2, 3, 4, 7, 10, 13
BALL = 14
"""The columns of a ball, and their number: its place and radius, where the bird's back, front and
right are as seen from it, and how far along the spine it lies."""

MOST_SHAPES, MOST_BALLS = 64, 96
"""The most that a picture can hold."""


class Picture(NamedTuple):
    """One picture before it is painted."""

    shapes: np.ndarray
    balls: np.ndarray
    counts: np.ndarray
    """How many shapes and balls there are."""
    codes: np.ndarray
    """The bird's value of each group of attributes."""
    coat: np.ndarray
    """The colour of each group."""
    pose: np.ndarray
    points: np.ndarray
    """Where each part is: x and y."""
    light: np.ndarray
    noise: np.ndarray
    land: np.ndarray
    """The colours of the landscape."""


@helper
def add_shape(picture: Picture, colour: Vector) -> np.ndarray:
    """Begin a shape before all others; its kind and part are yet to be set, and the balls added next
    are its own."""
    shape = picture.shapes[picture.counts[0]]
    picture.counts[0] += 1
    shape[OPACITY] = 1.0
    shape[COLOUR], shape[COLOUR + 1], shape[COLOUR + 2] = colour
    shape[FIRST], shape[LAST] = picture.counts[1], picture.counts[1]
    shape[LEFT], shape[TOP], shape[RIGHT], shape[BOTTOM] = 2.0, 2.0, -1.0, -1.0
    return shape


@helper
def bound(shape: np.ndarray, x: float, y: float, room: float) -> None:
    """Widen a shape's bounds by a square about a place."""
    shape[LEFT], shape[RIGHT] = min(shape[LEFT], x - room), max(shape[RIGHT], x + room)
    shape[TOP], shape[BOTTOM] = min(shape[TOP], y - room), max(shape[BOTTOM], y + room)


@helper
def add_ball(picture: Picture, shape: np.ndarray, place: Vector, radius: float) -> np.ndarray:
    """Put the next ball of a shape."""
    ball = picture.balls[picture.counts[1]]
    picture.counts[1] += 1
    shape[LAST] = picture.counts[1]
    ball[X], ball[Y], ball[Z] = place
    ball[RADIUS] = radius
    bound(shape, place[0], place[1], radius)
    return ball


@helper
def lay_blade(
    shape: np.ndarray, origin: Vector, along: Vector, aside: Vector, reach: float, room: float
) -> None:
    """Lay a blade into the plane of two vectors of its length: `reach` far to the one side of
    `along`, `room` far to the other. One that is seen edge on has no bounds, so that it is not seen.
    """
    area = along[0] * aside[1] - along[1] * aside[0]
    square = along[0] * along[0] + along[1] * along[1] + along[2] * along[2]
    if abs(area) < 0.06 * square:
        return
    shape[ORIGIN], shape[ORIGIN + 1] = origin[0], origin[1]
    shape[ALONG], shape[ALONG + 1] = aside[1] / area, -aside[0] / area
    shape[ASIDE], shape[ASIDE + 1] = -along[1] / area, along[0] / area
    shape[UNIT] = np.sqrt(abs(area))
    for corner in range(4):
        a = 1.0 if corner < 2 else 0.0
        b = reach if corner % 2 == 0 else -room
        x, y = origin[0] + a * along[0] + b * aside[0], origin[1] + a * along[1] + b * aside[1]
        bound(shape, x, y, shape[SOFT])


@helper
def note(point: np.ndarray, place: Vector) -> None:
    """Write where a part is."""
    point[0], point[1] = place[0], place[1]
