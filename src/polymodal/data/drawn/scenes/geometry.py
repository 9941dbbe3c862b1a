"""Rays and bodies: spheres, and cylinders and cubes with bevelled edges.

A body is a row of numbers (see the columns below); a ray is an origin and a direction of any
length. Only + − × ÷ and √ are used, which are exact to the last bit on every machine.
"""

import math

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, dot, get, minus
from polymodal.data.drawn.scenes.attributes import BEVEL

SIZE, COLOUR, MATERIAL, SHAPE, X, Y, Z, EXTENT, COS, SIN, BOUND, VISIBLE = range(12)
ASIDE, AHEAD, DEPTH = 12, 13, 14
COLUMNS = 15
"""EXTENT: radius, or half a side. COS, SIN: the turn about the vertical. BOUND: the radius of a
sphere about the body. VISIBLE: the fraction that other bodies leave to be seen. ASIDE, AHEAD: the
place on the ground as the camera has it, to the right and away. DEPTH: the distance from it."""

SPHERE, CYLINDER, CUBE = 0.0, 1.0, 2.0
MISS = 1e30

EDGE = 2.0 - BEVEL * (2.0 - math.sqrt(2.0))
CORNER = 3.0 - BEVEL * (3.0 - math.sqrt(3.0))
"""Where a cube of half side 1 is cut: |x| + |y| ≤ EDGE and |x| + |y| + |z| ≤ CORNER. The cuts
touch the rounded edge of radius BEVEL, whose normals `normal` gives."""


@helper
def slab(place: float, step: float, half: float, near: float, far: float) -> tuple[float, float]:
    """Keep of [near, far] where |place + t·step| ≤ half."""
    if abs(step) < 1e-12:
        if abs(place) > half:
            return MISS, -MISS
        return near, far
    enter = (-half - place) / step
    leave = (half - place) / step
    if enter > leave:
        enter, leave = leave, enter
    return max(near, enter), min(far, leave)


@helper
def hit_sphere(x: float, y: float, z: float, u: float, v: float, w: float, r: float) -> float:
    """Where the ray (x, y, z) + t (u, v, w) enters a sphere about the origin."""
    a = u * u + v * v + w * w
    b = x * u + y * v + z * w
    c = x * x + y * y + z * z - r * r
    root = b * b - a * c
    if root < 0.0:
        return MISS
    return (-b - np.sqrt(root)) / a


@helper
def hit_cylinder(x: float, y: float, z: float, u: float, v: float, w: float, r: float) -> float:
    """Where a ray enters an upright cylinder of radius and half height r, its rims cut by cones."""
    near, far = slab(z, w, r, -MISS, MISS)
    if near > far:
        return MISS
    a = u * u + v * v
    b = x * u + y * v
    c = x * x + y * y - r * r
    root = b * b - a * c
    if a < 1e-24:
        if c > 0.0:
            return MISS
    elif root < 0.0:
        return MISS
    else:
        side = np.sqrt(root)
        near, far = max(near, (-b - side) / a), min(far, (-b + side) / a)
        if near > far:
            return MISS
    top = EDGE * r
    near, far = cone(x, y, top - z, u, v, -w, near, far)
    near, far = cone(x, y, top + z, u, v, w, near, far)
    return near if near <= far else MISS


@helper
def cone(
    x: float, y: float, h: float, u: float, v: float, w: float, near: float, far: float
) -> tuple[float, float]:
    """Keep of [near, far] where √(x² + y²) ≤ h, for a stretch of the ray on which h > 0."""
    a = u * u + v * v - w * w
    b = x * u + y * v - h * w
    c = x * x + y * y - h * h
    root = np.sqrt(max(b * b - a * c, 0.0))
    if a > 1e-12:
        if b * b < a * c:
            return MISS, -MISS
        return max(near, (-b - root) / a), min(far, (-b + root) / a)
    if a < -1e-12:  # steeper than the cone: the ray is inside from one crossing on, or up to one
        if w > 0.0:
            return max(near, (-b - root) / a), far
        return near, min(far, (-b + root) / a)
    if abs(b) < 1e-12:
        return near, far
    crossing = -c / (2.0 * b)
    if b < 0.0:
        return max(near, crossing), far
    return near, min(far, crossing)


@helper
def hit_cube(x: float, y: float, z: float, u: float, v: float, w: float, r: float) -> float:
    """Where a ray enters a cube of half side r with its edges and corners cut: thirteen slabs."""
    near, far = slab(x, u, r, -MISS, MISS)
    near, far = slab(y, v, r, near, far)
    near, far = slab(z, w, r, near, far)
    if near > far:
        return MISS
    edge = EDGE * r
    near, far = slab(x + y, u + v, edge, near, far)
    near, far = slab(x - y, u - v, edge, near, far)
    near, far = slab(x + z, u + w, edge, near, far)
    near, far = slab(x - z, u - w, edge, near, far)
    near, far = slab(y + z, v + w, edge, near, far)
    near, far = slab(y - z, v - w, edge, near, far)
    corner = CORNER * r
    near, far = slab(x + y + z, u + v + w, corner, near, far)
    near, far = slab(x + y - z, u + v - w, corner, near, far)
    near, far = slab(x - y + z, u - v + w, corner, near, far)
    near, far = slab(x - y - z, u - v - w, corner, near, far)
    return near if near <= far else MISS


@helper
def hit(body: np.ndarray, origin: Vector, direction: Vector) -> float:
    """Where along a ray that starts outside it a body is entered; MISS if nowhere."""
    x, y, z = minus(origin, get(body, X))
    dx, dy, dz = direction
    if body[SHAPE] == SPHERE:
        return hit_sphere(x, y, z, dx, dy, dz, body[EXTENT])
    if body[SHAPE] == CYLINDER:
        return hit_cylinder(x, y, z, dx, dy, dz, body[EXTENT])
    cos, sin = body[COS], body[SIN]
    x, y = cos * x + sin * y, cos * y - sin * x
    dx, dy = cos * dx + sin * dy, cos * dy - sin * dx
    return hit_cube(x, y, z, dx, dy, dz, body[EXTENT])


@helper
def near_ray(body: np.ndarray, origin: Vector, direction: Vector, slack: float) -> bool:
    """Whether a body can meet a ray of unit direction, or a cone that widens by `slack` a unit."""
    to = minus(get(body, X), origin)
    along = dot(to, direction)
    reach = body[BOUND]
    if along < -reach:
        return False
    reach += slack * max(along, 0.0)
    return dot(to, to) - along * along < reach * reach


@helper
def normal(body: np.ndarray, point: Vector) -> Vector:
    """The unit normal of a body at a point of its surface; smooth over the bevels."""
    x, y, z = minus(point, get(body, X))
    if body[SHAPE] == SPHERE:
        return x / body[EXTENT], y / body[EXTENT], z / body[EXTENT]
    core = body[EXTENT] * (1.0 - BEVEL)
    if body[SHAPE] == CYLINDER:
        out = np.sqrt(x * x + y * y)
        side = max(out - core, 0.0)
        up = max(abs(z) - core, 0.0)
        scale = 1.0 / np.sqrt(max(side * side + up * up, 1e-24))
        side, up = side * scale / max(out, 1e-12), up * scale
        return x * side, y * side, up if z > 0.0 else -up
    cos, sin = body[COS], body[SIN]
    x, y = cos * x + sin * y, cos * y - sin * x
    a = max(abs(x) - core, 0.0)
    b = max(abs(y) - core, 0.0)
    c = max(abs(z) - core, 0.0)
    scale = 1.0 / np.sqrt(max(a * a + b * b + c * c, 1e-24))
    a = a * scale if x > 0.0 else -a * scale
    b = b * scale if y > 0.0 else -b * scale
    return cos * a - sin * b, sin * a + cos * b, c * scale if z > 0.0 else -c * scale
