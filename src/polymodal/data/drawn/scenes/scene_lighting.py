"""The light that falls on a point: a key light with a soft shadow, a fill light, and the sky."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, along, dot, get, minus, unit
from polymodal.data.drawn.scenes.geometry import EXTENT, MISS, X, hit, near_ray
from polymodal.data.drawn.scenes.stage import FILL, KEY, KEY_ACROSS, KEY_ALONG, PANEL, STRENGTH

KEY_LIGHT, FILL_LIGHT, SKY_LIGHT = 0.80, 0.24, 0.36

REACH = 16.0
"""The square of how many extents away a body still darkens the sky."""

EDGE = 1.75
"""The distance of the panel's four outermost points, in its half sides."""


@helper
def toward_key(stage: np.ndarray, point: Vector) -> tuple[Vector, float]:
    """The direction of the key light's middle, and one over its distance."""
    to = minus(get(stage, KEY), point)
    near = 1.0 / np.sqrt(dot(to, to))
    return (to[0] * near, to[1] * near, to[2] * near), near


@helper
def lit(
    stage: np.ndarray,
    bodies: np.ndarray,
    k: int,
    point: Vector,
    key: Vector,
    nearness: float,
    column: int,
    row: int,
) -> float:
    """The fraction of the key light's panel that body k (or the ground) sees from a point.

    `key` and `nearness` are what `toward_key` gives.
    """
    slack = 1.4143 * PANEL * nearness
    near = 0
    for j in range(bodies.shape[0]):
        if j != k and near_ray(bodies[j], point, key, slack):
            near |= 1 << j
    return 1.0 if near == 0 else shadow(stage, bodies, near, point, column, row)


@helper
def shadow(
    stage: np.ndarray, bodies: np.ndarray, near: int, point: Vector, column: int, row: int
) -> float:
    """The fraction of the panel that the bodies marked in the bits of `near` leave to be seen.

    Where its corners agree, so does the panel, as bodies are convex; elsewhere 4 × 4 points decide,
    others for each of a pixel's 2 × 2.
    """
    corners = seen(stage, bodies, near, point, 2, EDGE, 0.0, 0.0)
    if corners == 0 or corners == 4:
        return 0.25 * corners
    right, down = 0.25 * (column % 2) - 0.125, 0.25 * (row % 2) - 0.125
    return seen(stage, bodies, near, point, 4, 0.5, right, down) / 16.0


@helper
def seen(
    stage: np.ndarray,
    bodies: np.ndarray,
    near: int,
    point: Vector,
    side: int,
    step: float,
    right: float,
    down: float,
) -> int:
    """How many of side × side points of the key light's panel are seen past the marked bodies."""
    centre, count = minus(get(stage, KEY), point), 0
    for i in range(side):
        edge = along(centre, (i - 0.5 * (side - 1)) * step + right, get(stage, KEY_ACROSS))
        for j in range(side):
            to = along(edge, (j - 0.5 * (side - 1)) * step + down, get(stage, KEY_ALONG))
            count += 1
            for body in range(bodies.shape[0]):
                if near >> body & 1 and 0.0 < hit(bodies[body], point, to) < MISS:
                    count -= 1
                    break
    return count


@helper
def open_sky(bodies: np.ndarray, k: int, point: Vector, normal: Vector) -> float:
    """How much of the sky other bodies leave to a point: each hides the sphere of its extent."""
    share = 1.0
    for j in range(bodies.shape[0]):
        if j == k:
            continue
        to = minus(get(bodies[j], X), point)
        square, area = dot(to, to), bodies[j, EXTENT] * bodies[j, EXTENT]
        if square > REACH * area:
            continue
        facing = dot(normal, to)
        if facing > 0.0:
            share *= 1.0 - min(0.9 * facing * area / (square * np.sqrt(square)), 0.8)
    return share


@helper
def light(
    stage: np.ndarray, point: Vector, normal: Vector, toward: Vector, shadow: float, sky: float
) -> Vector:
    """The light on a matte surface: a warm key, a cool fill, and the rest from all around."""
    key = KEY_LIGHT * stage[STRENGTH] * shadow * max(dot(normal, toward), 0.0)
    fill = FILL_LIGHT * max(dot(normal, unit(minus(get(stage, FILL), point))), 0.0)
    rest = SKY_LIGHT * sky * (0.72 + 0.28 * normal[2])
    return (
        1.03 * key + 0.95 * fill + 0.98 * rest,
        key + fill + rest,
        0.95 * key + 1.06 * fill + 1.03 * rest,
    )
