"""Points and directions as triples."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper

Vector = tuple[float, float, float]


@helper
def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@helper
def minus(a: Vector, b: Vector) -> Vector:
    """From b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def along(a: Vector, t: float, b: Vector) -> Vector:
    """a + t b."""
    return a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]


@helper
def unit(a: Vector) -> Vector:
    """The direction of a vector."""
    scale = 1.0 / np.sqrt(dot(a, a))
    return a[0] * scale, a[1] * scale, a[2] * scale


@helper
def get(row: np.ndarray, at: int) -> Vector:
    """Read a vector out of a row of numbers."""
    return row[at], row[at + 1], row[at + 2]


@helper
def put(row: np.ndarray, at: int, vector: Vector, scale: float) -> None:
    """Write a vector, scaled, into a row."""
    row[at] = vector[0] * scale
    row[at + 1] = vector[1] * scale
    row[at + 2] = vector[2] * scale
