"""What a seen point looks like: the ground, matte rubber, or metal that mirrors in its own colour.

Colours are linear until the very end; no step needs more than + − × ÷ and √, so that pixels, like
the truth, are the same everywhere.
"""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, along, dot, get, minus, unit
from polymodal.data.drawn.scenes.geometry import COLOUR, MATERIAL, normal
from polymodal.data.drawn.scenes.mirrors import GROUND, PAINT, UPWARD, ground_paint, mirrored
from polymodal.data.drawn.scenes.scene_lighting import light, lit, open_sky, toward_key
from polymodal.data.drawn.scenes.stage import EYE


@helper
def shade_ground(
    stage: np.ndarray, bodies: np.ndarray, point: Vector, column: int, row: int
) -> Vector:
    """The colour of a point of the ground."""
    key, nearness = toward_key(stage, point)
    shadow = lit(stage, bodies, GROUND, point, key, nearness, column, row)
    sky = open_sky(bodies, GROUND, point, UPWARD)
    r, g, b = light(stage, point, UPWARD, key, shadow, sky)
    paint = ground_paint(point[0], point[1])
    return paint * r, paint * g, paint * b


@helper
def shade_body(
    stage: np.ndarray,
    bodies: np.ndarray,
    k: int,
    point: Vector,
    column: int,
    row: int,
) -> Vector:
    """The colour of a point of body k."""
    out = normal(bodies[k], point)
    view = unit(minus(point, get(stage, EYE)))
    facing = min(dot(view, out), 0.0)
    mirror = along(view, -2.0 * facing, out)
    key, nearness = toward_key(stage, point)
    shadow = lit(stage, bodies, k, point, key, nearness, column, row)
    sky = open_sky(bodies, k, point, out)
    r, g, b = light(stage, point, out, key, shadow, sky)
    paint = PAINT[int(bodies[k, COLOUR])]
    if bodies[k, MATERIAL] == 0.0:
        sheen = max(dot(mirror, key), 0.0)
        sheen *= sheen
        sheen *= 0.07 * shadow * sheen
        return paint[0] * r + sheen, paint[1] * g + sheen, paint[2] * b + sheen
    seen_r, seen_g, seen_b = mirrored(stage, bodies, k, point, mirror)
    graze = 1.0 + facing
    white = 0.04 + 0.5 * graze * graze * graze * graze * graze
    return (
        (white + (1.0 - white) * paint[0]) * seen_r + 0.18 * paint[0] * r,
        (white + (1.0 - white) * paint[1]) * seen_g + 0.18 * paint[1] * g,
        (white + (1.0 - white) * paint[2]) * seen_b + 0.18 * paint[2] * b,
    )
