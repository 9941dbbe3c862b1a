"""The film of a chest: density at each point, then the gray of each pixel."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import entry, helper
from polymodal.data.drawn.kernel.randomness import key, uniform
from polymodal.data.drawn.kernel.smooth_noise import between, noise, smooth
from polymodal.data.drawn.xrays import chest as chests
from polymodal.data.drawn.xrays.findings import CARDIOMEGALY, EMPHYSEMA, FILM, SEVERITY
from polymodal.data.drawn.xrays.signs_on_film import (
    balls_at,
    patches_at,
    pleura_at,
    strands_at,
    vessels_left,
)

FINE = 2
"""Points along each side of a pixel."""


@helper
def density(chest: np.ndarray, signs: np.ndarray, grain: np.uint64, x: float, y: float) -> float:
    """How dense a film is at a place of the chest."""
    swollen = signs[EMPHYSEMA, SEVERITY]
    flat = min(0.6 * swollen, 0.65 * chest[chests.DOME])
    air, u = chests.lung(chest, flat, x, y)
    found = chests.body_at(chest, x, y)
    wall = found
    found += chests.bones_at(chest, x, y) * smooth(wall / 0.3)
    if abs(x) > 0.95:
        return found
    below = smooth((y - chests.floor_of(chest, flat, x)) / 0.03) * smooth((0.9 - abs(x)) / 0.2)
    found += 0.36 * below * smooth((y - 0.2) / 0.1)
    bubble = (x - 0.36) ** 2 / 0.030 + (y - chest[chests.BASE_LEFT] - 0.13) ** 2 / 0.004
    if bubble < 1.0:
        found -= 0.22 * np.sqrt(1.0 - bubble)
    found -= (0.56 + 0.45 * swollen) * wall * air / 0.75
    scale = 1.0 + 0.75 * signs[CARDIOMEGALY, SEVERITY] - 0.6 * swollen
    heart = chests.heart_at(chest, scale, x, y)
    found += 0.52 * heart * (1.0 - 0.7 * below)
    found += chests.middle_at(x, y)
    found += chests.vessels_at(grain, x, y, air) * vessels_left(chest, signs, x, y, u)
    found += patches_at(signs, grain, x, y, air) + balls_at(signs, grain, x, y, air)
    found += strands_at(signs, grain, x, y, air, u)
    found += pleura_at(chest, signs, flat, x, y, air, u)
    return found + 0.02 * noise(grain, 5.0 * x, 5.0 * y, 101.0)


@helper
def gray(dense: float) -> float:
    """The brightness of a film where it is so dense, from 0 to 1: white is what lets nothing through."""
    return 1.0 - np.exp(-1.25 * max(dense, 0.0) ** 1.15)


@entry
def expose(seed: int, item: int, signs: np.ndarray, numbers: np.ndarray, out: np.ndarray) -> None:
    """Fill in one film.

    Args:
        seed, item: by which vessels, grain and exposure are known.
        signs: of the findings.
        numbers: the chest's, each in [0, 1).
        out: rows × columns × 3 bytes.
    """
    size = out.shape[0]
    chest = np.empty(chests.COLUMNS)
    for k in range(chests.COLUMNS):
        chest[k] = between(numbers[k], chests.RANGES[k][0], chests.RANGES[k][1])
    grain = key(seed, item, FILM)
    gain, dark = between(uniform(grain, 0), 0.88, 1.04), between(uniform(grain, 1), 0.0, 0.05)
    c, s = np.cos(chest[chests.TURN]), np.sin(chest[chests.TURN])
    for row in range(size):
        for column in range(size):
            light = 0.0
            for point in range(FINE * FINE):
                u = (2.0 * (column + (point % FINE + 0.5) / FINE) / size - 1.0) / chest[chests.ZOOM]
                v = (2.0 * (row + (point // FINE + 0.5) / FINE) / size - 1.0) / chest[chests.ZOOM]
                x = c * u + s * v - chest[chests.SHIFT]
                y = c * v - s * u - chest[chests.LIFT]
                light += gray(density(chest, signs, grain, x, y))
            light = dark + gain * light / (FINE * FINE)
            first = 16 + 2 * (row * size + column)
            light += 0.02 * (uniform(grain, first) + uniform(grain, first + 1) - 1.0)
            level = int(255.0 * min(max(light, 0.0), 1.0) + 0.5)
            for channel in range(3):
                out[row, column, channel] = level
