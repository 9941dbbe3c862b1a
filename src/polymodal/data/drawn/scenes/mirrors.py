"""What metal has to reflect: other bodies, the ground and a studio with softboxes and light bars."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, along, dot, get, minus, unit
from polymodal.data.drawn.scenes.attributes import RGB
from polymodal.data.drawn.scenes.geometry import COLOUR, MISS, hit, near_ray, normal
from polymodal.data.drawn.scenes.scene_lighting import light, open_sky, toward_key
from polymodal.data.drawn.scenes.stage import FILL, KEY

PAINT = np.array(RGB, dtype=np.float64) / 255.0
GROUND = -1
UPWARD = (0.0, 0.0, 1.0)
WALL = 9.0
"""How far behind the middle the light bars hang."""


@helper
def ground_paint(x: float, y: float) -> float:
    """The ground's albedo: a light gray that darkens gently away from the middle."""
    return 0.30 + 0.20 / (1.0 + 0.025 * (x * x + y * y))


@helper
def edge(distance: float) -> float:
    """1 inside a panel, 0 outside, and a short slope between."""
    return min(max((1.0 - distance) * 6.0, 0.0), 1.0)


@helper
def softbox(point: Vector, direction: Vector, centre: Vector, wide: float, high: float) -> float:
    """How much a ray meets of a softbox that faces the middle of the scene, its base level."""
    out = unit(centre)
    facing = dot(direction, out)
    if facing <= 1e-6:
        return 0.0
    to = minus(centre, point)
    t = dot(to, out) / facing
    x, y, z = t * direction[0] - to[0], t * direction[1] - to[1], t * direction[2] - to[2]
    flat = np.sqrt(out[0] * out[0] + out[1] * out[1])
    across = (out[0] * y - out[1] * x) / flat
    upward = z * flat - out[2] * (out[0] * x + out[1] * y) / flat
    return edge(abs(across) / wide) * edge(abs(upward) / high)


@helper
def bars(point: Vector, direction: Vector) -> float:
    """How much a ray meets of the light bars on the back wall; level tops show them as stripes."""
    if direction[1] < 0.05:
        return 0.0
    t = (WALL - point[1]) / direction[1]
    x, z = point[0] + t * direction[0], point[2] + t * direction[2]
    if z < 2.4 or z > 11.4:
        return 0.0
    turn = (z + 0.3 * x) / 2.2
    turn -= np.floor(turn)
    return min(max(2.2 - 5.0 * abs(turn - 0.5), 0.0), 1.0) * edge(abs(x) / 10.0)


@helper
def studio(stage: np.ndarray, point: Vector, direction: Vector) -> Vector:
    """What a mirror sees above the ground: a dim room, two softboxes, bars, a bright horizon."""
    up = max(direction[2], 0.0)
    glow = (1.0 - up) * (1.0 - up)
    glow *= glow
    glow *= glow
    white = 5.0 * softbox(point, direction, get(stage, KEY), 2.0, 2.0)
    white += 1.5 * softbox(point, direction, get(stage, FILL), 1.6, 3.2)
    white += 1.5 * bars(point, direction)
    return (
        0.10 + 0.20 * up + 0.55 * glow + white,
        0.11 + 0.24 * up + 0.56 * glow + white,
        0.13 + 0.32 * up + 0.58 * glow + white,
    )


@helper
def mirrored(
    stage: np.ndarray, bodies: np.ndarray, k: int, point: Vector, direction: Vector
) -> Vector:
    """What body k reflects along a unit direction."""
    nearest, which = MISS, -1
    for j in range(bodies.shape[0]):
        if j != k and near_ray(bodies[j], point, direction, 0.0):
            t = hit(bodies[j], point, direction)
            if 0.0 < t < nearest:
                nearest, which = t, j
    if which >= 0:
        there = along(point, nearest, direction)
        key, _ = toward_key(stage, there)
        r, g, b = light(stage, there, normal(bodies[which], there), key, 1.0, 1.0)
        paint = PAINT[int(bodies[which, COLOUR])]
        return paint[0] * r, paint[1] * g, paint[2] * b
    r, g, b = studio(stage, point, direction)
    if direction[2] >= -1e-6:
        return r, g, b
    t = -point[2] / direction[2]
    there = (point[0] + t * direction[0], point[1] + t * direction[1], 0.0)
    sky = open_sky(bodies, GROUND, there, UPWARD)
    key, _ = toward_key(stage, there)
    near_r, near_g, near_b = light(stage, there, UPWARD, key, sky, sky)
    far = t * t / (t * t + 150.0)
    paint_near = (1.0 - far) * ground_paint(there[0], there[1])
    return (
        paint_near * near_r + far * r,
        paint_near * near_g + far * g,
        paint_near * near_b + far * b,
    )
