"""How a bird stands: where its body and head point, and where it is in the picture."""

import numpy as np

from polymodal.data.drawn.birds.bird_streams import POSE, between
from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, along, get, put

FRONT, BACK, RIGHT, LEVEL = 0, 3, 6, 9
HEAD_FRONT, HEAD_BACK, HEAD_RIGHT, CENTRE, HEAD = 12, 15, 18, 21, 24
SCALE, SKULL, LIFT, LIFT_UP, SPREAD, TAIL, TAIL_UP = 27, 28, 29, 30, 31, 32, 33
PLUMP, FEET, SLOPE, STRIDE, COLUMNS = 34, 35, 36, 37, 38
"""The columns of a pose, and their number: unit vectors to the front, the back (upwards) and the right
of the body, its front made level, the same three of the head, the centres of body and head, the
length of the bird's unit, the head's radius in it, the turn of the wings (cosine and sine) and how
far they are open, the turn of the tail, how stout the body is, the height and the slope of what the
feet stand on, and how far they are apart."""

UP = (0.0, -1.0, 0.0)

SCALES = np.array([0.84, 1.0, 1.14])
SKULLS = np.array([0.212, 0.184, 0.160])
NECKS = np.array([0.29, 0.34, 0.42])
"""By size: a small bird is smaller in the picture, and has a larger head on a shorter neck."""


@helper
def turn(half: float) -> tuple[float, float]:
    """The cosine and the sine of an angle, from the tangent of its half."""
    square = half * half
    return (1.0 - square) / (1.0 + square), 2.0 * half / (1.0 + square)


@helper
def mixed(s: float, a: Vector, t: float, b: Vector) -> Vector:
    """s a + t b."""
    return s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]


@helper
def put_frame(pose: np.ndarray, at: int, level: Vector, half: float) -> None:
    """Write the front, back and right of what looks along a level front, raised by an angle."""
    c, s = turn(half)
    put(pose, at, mixed(c, level, s, UP), 1.0)
    put(pose, at + 3, mixed(c, UP, -s, level), 1.0)
    put(pose, at + 6, (-level[2], 0.0, level[0]), 1.0)


@helper
def place(pose: np.ndarray, front: float, back: float, right: float) -> Vector:
    """A place of the picture that is so far to the front, the back and the right of the body."""
    flat = along(mixed(front, get(pose, FRONT), back, get(pose, BACK)), right, get(pose, RIGHT))
    return along(get(pose, CENTRE), pose[SCALE], flat)


@helper
def strike_pose(seed: int, item: int, size: int, pose: np.ndarray) -> None:
    """Draw how the bird of one item stands; `size` is the code of its size."""
    u = randomness.uniforms(seed, item, POSE, 19)
    c, s = turn(between(u[0], -0.34, 0.46))
    level = (c if u[1] < 0.5 else -c, 0.0, s)
    put(pose, LEVEL, level, 1.0)
    put_frame(pose, FRONT, level, between(u[2], 0.02, 0.34))
    c, s = turn(between(u[3], -0.32, 0.32))
    looking = (level[0] * c - level[2] * s, 0.0, level[2] * c + level[0] * s)
    put_frame(pose, HEAD_FRONT, looking, between(u[4], -0.16, 0.12))
    scale = SCALES[size] * between(u[5], 0.36, 0.51)
    pose[SCALE], pose[SKULL] = scale, SKULLS[size] * between(u[6], 0.96, 1.04)
    pose[CENTRE] = 0.5 + 0.05 * level[0] + between(u[7], -0.08, 0.08)
    pose[CENTRE + 1] = 0.54 + between(u[8], -0.07, 0.07)
    neck = mixed(between(u[9], 0.13, 0.22), level, NECKS[size] + between(u[10], -0.03, 0.07), UP)
    put(pose, HEAD, along(place(pose, 0.20, 0.04, 0.0), scale, neck), 1.0)
    lift = between(u[13], -0.04, 0.05)
    if u[11] < 0.3:
        pose[SPREAD], lift = between(u[12], 0.6, 1.0), between(u[13], 0.28, 0.68)
    pose[LIFT], pose[LIFT_UP] = turn(lift)
    pose[TAIL], pose[TAIL_UP] = turn(between(u[14], -0.16, 0.2))
    pose[PLUMP] = between(u[15], 0.93, 1.07)
    pose[FEET] = pose[CENTRE + 1] + scale * between(u[16], 0.45, 0.5)
    pose[SLOPE], pose[STRIDE] = between(u[17], -0.16, 0.16), between(u[18], -0.05, 0.07)
