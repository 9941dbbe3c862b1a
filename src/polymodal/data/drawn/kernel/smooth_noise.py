"""Smooth noise in space, and numbers between two others."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.randomness import GOLDEN, mix


@helper
def between(number: float, low: float, high: float) -> float:
    """A random number of [0, 1) as one of [low, high)."""
    return low + (high - low) * number


@helper
def smooth(amount: float) -> float:
    """A step from 0 to 1 without corners."""
    t = min(max(amount, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@helper
def corner(start: np.uint64, i: int, j: int, k: int) -> float:
    """The noise at a point of the grid, in [−1, 1)."""
    word = start + np.uint64(i + 4096) * GOLDEN
    word = mix(word + np.uint64(j + 4096) * np.uint64(0xD6E8FEB86659FD93))
    word = mix(word + np.uint64(k + 4096) * np.uint64(0xA0761D6478BD642F))
    return np.float64(word >> np.uint64(11)) * (2.0 / 9007199254740992.0) - 1.0


@helper
def noise(start: np.uint64, x: float, y: float, z: float) -> float:
    """Smooth noise in [−1, 1), random at whole numbers and blended between them."""
    i, j, k = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
    u, v, w = smooth(x - i), smooth(y - j), smooth(z - k)
    found = 0.0
    for a in range(2):
        for b in range(2):
            for c in range(2):
                share = (u if a else 1.0 - u) * (v if b else 1.0 - v) * (w if c else 1.0 - w)
                found += share * corner(start, i + a, j + b, k + c)
    return found
