"""Intersections against marching through the bodies' definitions, point by point."""

import numba
import numpy as np
import pytest

from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes.attributes import BEVEL

ROOT2, ROOT3 = 2**0.5, 3**0.5


@numba.njit
def hits(body: np.ndarray, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    found = np.empty(len(origins))
    for i in range(len(origins)):
        o, d = origins[i], directions[i]
        found[i] = geometry.hit(body, (o[0], o[1], o[2]), (d[0], d[1], d[2]))
    return found


@numba.njit
def normals(body: np.ndarray, points: np.ndarray) -> np.ndarray:
    found = np.empty_like(points)
    for i in range(len(points)):
        n = geometry.normal(body, (points[i, 0], points[i, 1], points[i, 2]))
        found[i, 0], found[i, 1], found[i, 2] = n
    return found


def body(shape: float) -> np.ndarray:
    row = np.zeros(geometry.COLUMNS)
    row[geometry.SHAPE] = shape
    row[[geometry.X, geometry.Y, geometry.Z]] = 0.3, -0.2, 0.7
    row[geometry.EXTENT] = 0.7
    row[[geometry.COS, geometry.SIN]] = 0.6, 0.8
    return row


def outside(row: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Positive outside a body: the largest of the conditions that define it."""
    p = points - row[[geometry.X, geometry.Y, geometry.Z]]
    r, w = row[geometry.EXTENT], BEVEL * row[geometry.EXTENT]
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    if row[geometry.SHAPE] == geometry.SPHERE:
        return np.sqrt(x**2 + y**2 + z**2) - r
    if row[geometry.SHAPE] == geometry.CYLINDER:
        out = np.sqrt(x**2 + y**2)
        rim = out + abs(z) - (2 * r - w * (2 - ROOT2))
        return np.maximum.reduce([out - r, abs(z) - r, rim])
    cos, sin = row[geometry.COS], row[geometry.SIN]
    x, y = cos * x + sin * y, cos * y - sin * x
    a, b, c = abs(x), abs(y), abs(z)
    edge, corner = 2 * r - w * (2 - ROOT2), 3 * r - w * (3 - ROOT3)
    faces = [a - r, b - r, c - r, a + b - edge, a + c - edge, b + c - edge, a + b + c - corner]
    return np.maximum.reduce(faces)


def rays(count: int) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(0)
    origins = chance.normal(size=(count, 3))
    origins *= 4 / np.linalg.norm(origins, axis=1, keepdims=True)
    return origins, chance.normal(size=(count, 3)) * 0.6 - origins


@pytest.mark.parametrize("shape", [geometry.SPHERE, geometry.CYLINDER, geometry.CUBE])
def test_rays_enter_where_marching_finds_the_surface(shape: float) -> None:
    row = body(shape)
    origins, directions = rays(400)
    directions[:3] = np.eye(3)  # along the axes, where divisors vanish
    origins[:3] = row[[geometry.X, geometry.Y, geometry.Z]] - 3 * np.eye(3) + 0.01
    origins[3], directions[3] = (0.3, -0.2 - 4, 0.7), (0.0, 1.0, 1.0 - 1e-15)
    found = hits(row, origins, directions)
    steps = np.linspace(0, 4, 4001)
    path = origins[:, None] + steps[None, :, None] * directions[:, None]
    inside = outside(row, path) < 0
    entered = inside.any(1)
    first = steps[inside.argmax(1)]
    assert np.all(abs(found - first)[entered] < 2e-3)
    grazing = (found < geometry.MISS) & ~entered
    assert grazing.mean() < 0.02
    points = origins + found[:, None] * directions
    met = found < geometry.MISS
    assert np.all(abs(outside(row, points[met])) < 1e-9)
    assert entered.sum() > 100 and (~met).sum() > 50


@pytest.mark.parametrize("shape", [geometry.SPHERE, geometry.CYLINDER, geometry.CUBE])
def test_normals_are_unit_smooth_and_outward(shape: float) -> None:
    row = body(shape)
    origins, directions = rays(400)
    found = hits(row, origins, directions)
    met = found < geometry.MISS
    points = (origins + found[:, None] * directions)[met]
    out = normals(row, points)
    assert np.allclose(np.linalg.norm(out, axis=1), 1)
    assert np.all(outside(row, points + 1e-3 * out) > 0)
    nearby = normals(row, points + 1e-4)
    assert np.linalg.norm(out - nearby, axis=1).max() < 0.01
