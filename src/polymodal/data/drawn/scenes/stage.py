"""Where a scene is seen and lit from: a camera and two lights, each a little off its place."""

import numpy as np

from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, cross, dot, get, minus, put, unit
from polymodal.data.drawn.scenes.geometry import BOUND, X

EYE, RIGHT, UP, FORWARD, KEY, KEY_ACROSS, KEY_ALONG, FILL, STRENGTH = 0, 3, 6, 9, 12, 15, 18, 21, 24
COLUMNS = 25
"""A stage is a row of numbers: the camera's place and axes, the key light's panel (its centre and
half its sides), the fill light's place and the key light's strength."""

LENS = 0.32
"""The tangent of half the angle of view, across and upwards alike: images are square."""

PANEL = 1.3
"""Half the side of the key light's square panel, which softens its shadows."""


@helper
def near(start: np.uint64, counter: int, place: Vector, spread: float) -> Vector:
    """A point of the box of half side `spread` about a place."""
    x = place[0] + spread * (2.0 * randomness.uniform(start, counter) - 1.0)
    y = place[1] + spread * (2.0 * randomness.uniform(start, counter + 1) - 1.0)
    z = place[2] + spread * (2.0 * randomness.uniform(start, counter + 2) - 1.0)
    return x, y, z


@helper
def set_stage(seed: int, item: int, stage: np.ndarray) -> None:
    """Place the camera and the lights of one item."""
    start = randomness.key(seed, item, randomness.STAGE)
    eye = near(start, 0, (0.0, -9.6, 7.2), 0.35)
    aim = near(start, 3, (0.0, 0.05, 0.3), 0.08)
    forward = unit(minus(aim, eye))
    right = unit(cross(forward, (0.0, 0.0, 1.0)))
    put(stage, EYE, eye, 1.0)
    put(stage, RIGHT, right, 1.0)
    put(stage, UP, cross(right, forward), 1.0)
    put(stage, FORWARD, forward, 1.0)
    key = near(start, 6, (-5.2, -3.6, 9.0), 0.6)
    toward = unit((-key[0], -key[1], -key[2]))
    across = unit(cross(toward, (0.0, 0.0, 1.0)))
    put(stage, KEY, key, 1.0)
    put(stage, KEY_ACROSS, across, PANEL)
    put(stage, KEY_ALONG, cross(across, toward), PANEL)
    put(stage, FILL, near(start, 9, (7.0, -5.0, 5.5), 0.6), 1.0)
    stage[STRENGTH] = 0.92 + 0.16 * randomness.uniform(start, 12)


@helper
def ray(stage: np.ndarray, across: float, upward: float) -> Vector:
    """The direction through a point of the picture, from (−1, −1) below left to (1, 1).

    Its length is such that a distance along it is a depth along the camera's axis.
    """
    a, b = across * LENS, upward * LENS
    return (
        stage[FORWARD] + a * stage[RIGHT] + b * stage[UP],
        stage[FORWARD + 1] + a * stage[RIGHT + 1] + b * stage[UP + 1],
        stage[FORWARD + 2] + a * stage[RIGHT + 2] + b * stage[UP + 2],
    )


@helper
def span(across: float, depth: float, radius: float) -> tuple[float, float]:
    """How far a sphere reaches on one axis of the picture, both ways: its tangents from the eye."""
    leg = depth * depth - radius * radius
    swing = radius * np.sqrt(max(across * across + leg, 0.0))
    return (across * depth - swing) / (leg * LENS), (across * depth + swing) / (leg * LENS)


@helper
def bounds(stage: np.ndarray, body: np.ndarray) -> tuple[float, float, float, float]:
    """A body's bounds in the picture: left, right, bottom, top; the frame is −1 to 1."""
    centre = minus(get(body, X), get(stage, EYE))
    depth = dot(centre, get(stage, FORWARD))
    left, right = span(dot(centre, get(stage, RIGHT)), depth, body[BOUND])
    bottom, top = span(dot(centre, get(stage, UP)), depth, body[BOUND])
    return left, right, bottom, top
