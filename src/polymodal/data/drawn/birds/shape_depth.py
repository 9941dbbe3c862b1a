"""How deep a point of a picture lies in a shape, and which way the shape faces there."""

import numpy as np

from polymodal.data.drawn.birds.bird_shapes import (
    ALONG,
    ASIDE,
    AT,
    BACK,
    FIRST,
    FRONT,
    LAST,
    ORIGIN,
    RADIUS,
    SIDE,
    UNIT,
    X,
    Y,
    Z,
)
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, dot, get, unit

OUTSIDE = -9.0
"""The depth of a point that is nowhere near a shape."""


@helper
def clip(value: float) -> float:
    """The nearest number in [0, 1]."""
    return min(max(value, 0.0), 1.0)


@helper
def ramp(value: float, low: float, high: float) -> float:
    """0 below `low`, 1 above `high`, smooth between."""
    t = clip((value - low) / (high - low))
    return t * t * (3.0 - 2.0 * t)


@helper
def within(shape: np.ndarray, x: float, y: float) -> tuple[float, float]:
    """A point of the picture as a blade has it: how far along and how far aside, in its lengths."""
    dx, dy = x - shape[ORIGIN], y - shape[ORIGIN + 1]
    return (
        shape[ALONG] * dx + shape[ALONG + 1] * dy,
        shape[ASIDE] * dx + shape[ASIDE + 1] * dy,
    )


@helper
def disc(shape: np.ndarray, x: float, y: float) -> float:
    """How deep a point lies in a disc."""
    dx, dy = x - shape[ORIGIN], y - shape[ORIGIN + 1]
    return shape[UNIT] - np.sqrt(dx * dx + dy * dy)


@helper
def limb(
    shape: np.ndarray, balls: np.ndarray, x: float, y: float, soft: float
) -> tuple[float, float, Vector]:
    """How deep a point lies in a limb, how far along it, and which way the limb faces there."""
    depth, at, nx, ny = OUTSIDE, 0.0, 0.0, 0.0
    for k in range(int(shape[FIRST]), int(shape[LAST]) - 1):
        ax, ay, bx, by = balls[k, X], balls[k, Y], balls[k + 1, X], balls[k + 1, Y]
        room = max(balls[k, RADIUS], balls[k + 1, RADIUS]) + soft
        if x < min(ax, bx) - room or x > max(ax, bx) + room:
            continue
        if y < min(ay, by) - room or y > max(ay, by) + room:
            continue
        bx, by, dx, dy = bx - ax, by - ay, x - ax, y - ay
        t = clip((dx * bx + dy * by) / max(bx * bx + by * by, 1e-12))
        dx, dy = dx - t * bx, dy - t * by
        radius = balls[k, RADIUS] + t * (balls[k + 1, RADIUS] - balls[k, RADIUS])
        far = np.sqrt(dx * dx + dy * dy)
        if radius - far > depth:
            depth, at = radius - far, k - shape[FIRST] + t
            nx, ny = dx / max(radius, far), dy / max(radius, far)
    return depth, at, (nx, ny, np.sqrt(max(1.0 - nx * nx - ny * ny, 0.0)))


@helper
def meet(
    shape: np.ndarray, balls: np.ndarray, x: float, y: float, soft: float
) -> tuple[float, float]:
    """How deep a point lies in a body, at most `soft`, and how near the body is to the viewer there."""
    depth, nearest = OUTSIDE, OUTSIDE
    for k in range(int(shape[FIRST]), int(shape[LAST])):
        dx, dy, radius = x - balls[k, X], y - balls[k, Y], balls[k, RADIUS] + soft
        square = dx * dx + dy * dy
        if square < radius * radius:
            nearest = max(nearest, balls[k, Z] + np.sqrt(radius * radius - square))
            if depth < soft:
                depth = max(depth, min(radius - np.sqrt(square) - soft, soft))
    return depth, nearest


@helper
def feel(
    shape: np.ndarray, balls: np.ndarray, x: float, y: float, soft: float, nearest: float
) -> tuple[float, Vector, Vector]:
    """How far along a body a point of it lies, which way the body faces there, and the same as the
    bird has it: how much to its back, its front and its right.

    Balls that lie almost as near to the viewer as the nearest have a say, so that none stands out.
    """
    at, total, blur = 0.0, 1e-12, 0.12 * shape[UNIT]
    nx, ny, nz, back, front, side = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(int(shape[FIRST]), int(shape[LAST])):
        dx, dy, radius = x - balls[k, X], y - balls[k, Y], balls[k, RADIUS] + soft
        rise = radius * radius - dx * dx - dy * dy
        if rise <= 0.0:
            continue
        dz = np.sqrt(rise)
        say = 1.0 - (nearest - balls[k, Z] - dz) / blur
        if say <= 0.0:
            continue
        say *= say * say
        total += say
        at += say * balls[k, AT]
        say /= radius
        out = (say * dx, say * dy, say * dz)
        nx, ny, nz = nx + out[0], ny + out[1], nz + out[2]
        back += dot(out, get(balls[k], BACK))
        front += dot(out, get(balls[k], FRONT))
        side += dot(out, get(balls[k], SIDE))
    return at / total, unit((nx, ny, nz)), (back / total, front / total, side / total)
