"""The light of a picture, and the noise that roughens what it falls on."""

import numpy as np

from polymodal.data.drawn.birds.bird_streams import LIGHT, NOISE, between
from polymodal.data.drawn.birds.shape_depth import ramp
from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, dot, get, put, unit

TOWARD, SUN, SKY, COLUMNS = 0, 3, 6, 9
"""The columns of a light, and their number: where the sun is, and the colours of sun and sky."""

TILE = 32
"""The noise repeats after this many steps."""


def linear(rgb: tuple[int, int, int]) -> Vector:
    """A screen's colour as light: the inverse of the root that ends a picture."""
    r, g, b = ((value / 255.0) * (value / 255.0) for value in rgb)
    return r, g, b


@helper
def blend(a: Vector, b: Vector, share: float) -> Vector:
    """From colour a towards b."""
    return (
        a[0] + share * (b[0] - a[0]),
        a[1] + share * (b[1] - a[1]),
        a[2] + share * (b[2] - a[2]),
    )


@helper
def scaled(colour: Vector, by: float) -> Vector:
    """A colour, brighter or darker."""
    return colour[0] * by, colour[1] * by, colour[2] * by


@helper
def set_light(seed: int, item: int, light: np.ndarray) -> None:
    """Draw where the sun of one item stands, how strong and how warm it is."""
    u = randomness.uniforms(seed, item, LIGHT, 6)
    aside = between(u[0], 0.2, 0.75) if u[1] < 0.5 else between(u[0], -0.75, -0.2)
    put(light, TOWARD, unit((aside, -0.8, between(u[2], 0.45, 0.8))), 1.0)
    warmth = between(u[3], -0.06, 0.12)
    put(light, SUN, (1.0 + warmth, 1.0, 1.0 - warmth), between(u[4], 0.62, 0.95))
    put(light, SKY, (0.96 - 0.3 * warmth, 1.0, 1.04 + 0.3 * warmth), between(u[5], 0.46, 0.6))


@helper
def lit(light: np.ndarray, colour: Vector, facing: Vector, gloss: float) -> Vector:
    """A colour in the light, facing a way; what is glossy mirrors a little of the sun."""
    toward = dot(facing, get(light, TOWARD))
    sun, sky = max(0.26 + 0.74 * toward, 0.0), 0.8 - 0.2 * facing[1]
    shine = max(toward, 0.0)
    shine *= shine
    shine *= shine
    shine *= gloss * shine * shine
    return (
        colour[0] * (sun * light[SUN] + sky * light[SKY]) + shine,
        colour[1] * (sun * light[SUN + 1] + sky * light[SKY + 1]) + shine,
        colour[2] * (sun * light[SUN + 2] + sky * light[SKY + 2]) + shine,
    )


@helper
def make_noise(seed: int, item: int) -> np.ndarray:
    """A tile of even random numbers."""
    return randomness.uniforms(seed, item, NOISE, TILE * TILE).reshape((TILE, TILE))


@helper
def rough(noise: np.ndarray, x: float, y: float) -> float:
    """Smooth noise in [0, 1), which changes over a distance of about 1."""
    left, top = np.floor(x), np.floor(y)
    a, b = ramp(x - left, 0.0, 1.0), ramp(y - top, 0.0, 1.0)
    column, row = int(left) % TILE, int(top) % TILE
    right, below = (column + 1) % TILE, (row + 1) % TILE
    upper = noise[row, column] + a * (noise[row, right] - noise[row, column])
    lower = noise[below, column] + a * (noise[below, right] - noise[below, column])
    return upper + b * (lower - upper)
