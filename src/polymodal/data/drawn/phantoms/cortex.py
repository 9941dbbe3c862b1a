"""The folded cortex: sheets of fluid that run in from the surface, grey matter along them."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.smooth_noise import noise
from polymodal.data.drawn.phantoms import tissues

RIBBON = 2.9
"""Mm of grey matter on either side of a sulcus and below the surface."""

FOLDS_A_RADIUS = 6.3
"""How closely sulci lie: cells of noise in one radius of the brain."""

STEP = 0.02


@helper
def sheet(start: np.uint64, u: float, v: float, w: float) -> float:
    """The field whose zeros are the sulci, at a direction from the middle of the brain."""
    f = FOLDS_A_RADIUS
    bend = 0.8 * noise(start + np.uint64(77), 3.0 * u + 9.0, 3.0 * v, 3.0 * w)
    return noise(start, f * u + bend, f * v - bend, f * w + bend)


@helper
def from_sulcus(start: np.uint64, depth: float, x: float, y: float, z: float,
                a: float, b: float, c: float) -> float:  # fmt: skip
    """Mm from the nearest sulcus at a depth, by the value of its field over its slope."""
    r = max(np.sqrt(a * a + b * b + c * c), 1e-3)
    drift = 0.006 * depth  # sheets lean a little on their way in
    u, v, w = a / r + drift, b / r - drift, c / r
    here = sheet(start, u, v, w)
    du = sheet(start, u + STEP, v, w) - here
    dv = sheet(start, u, v + STEP, w) - here
    dw = sheet(start, u, v, w + STEP) - here
    slope = np.sqrt(du * du + dv * dv + dw * dw) / STEP
    radius = np.sqrt(x * x + y * y + z * z)
    return abs(here) / max(slope, 2.5) * radius


@helper
def from_midline(x: float, y: float, z: float) -> float:
    """Mm from the cleft between the hemispheres, which the corpus callosum closes within."""
    inside = ((y + 4.0) / 41.0) ** 2 + ((z - 4.0) / 24.0) ** 2
    wavy = x + 0.8 * np.sin(0.11 * y + 0.07 * z)
    if inside < 1.0 or (z < -5.0 and abs(y) < 25.0):
        return np.sqrt(wavy * wavy + (20.0 * (1.0 - inside)) ** 2) + 2.0
    return abs(wavy)


@helper
def from_insula(x: float, y: float, z: float) -> float:
    """Mm from the Sylvian fissure and the cleft over the insula, below its roof."""
    aside = abs(x) + 1.6 * np.sin(0.31 * y + 0.1 * z)
    roof = max(z - 17.0, 0.0)
    along = min(max(y, -16.0), 18.0)
    cleft = np.sqrt((aside - 39.0 - 0.004 * (y - 2.0) ** 2) ** 2 + (y - along) ** 2 + roof * roof)
    if aside < 39.0:
        return cleft
    course = 4.0 - 0.5 * (aside - 39.0) + 2.2 * np.sin(0.33 * aside + 0.2 * z)
    fissure = np.sqrt((y - course) ** 2 + roof * roof)
    return min(cleft, fissure)


@helper
def cortex_tissue(start: np.uint64, half: float, depth: float, x: float, y: float, z: float,
                  a: float, b: float, c: float) -> int:  # fmt: skip
    """Fluid, vessel, grey or white matter at a depth below the surface of the brain.

    Args:
        start: of the noise that folds it.
        half: half the width of a sulcus, in mm.
        depth: mm below the surface.
        x, y, z: the place, in mm.
        a, b, c: the place, in half axes of the brain.
    """
    cleft = from_midline(x, y, z)
    insula = from_insula(x, y, z)
    if cleft < 0.35 + 0.5 * half or insula < 0.5 + 0.5 * half:
        return tissues.CSF
    near = cleft < RIBBON + 0.6 or depth < RIBBON - 0.6 or insula < RIBBON + 0.7
    if z > 30.0 or abs(y + 4.0) > 46.0:
        depth = min(depth, 1.4 * cleft)  # sulci run in from the midline as well
    if depth > 34.0:
        return tissues.GREY if near else tissues.WHITE
    reach = 14.0 + 9.0 * noise(start + np.uint64(5), 3.0 * a, 3.0 * b, 3.0 * c)
    gap = from_sulcus(start, depth, x, y, z, a, b, c)
    if depth > reach:
        gap = np.sqrt(gap * gap + (depth - reach) ** 2)
    width = half * (1.25 - 0.7 * min(depth / reach, 1.0))
    if gap < width:
        speck = noise(start + np.uint64(6), x / 2.2, y / 2.2, z / 2.2)
        return tissues.VESSEL if speck > 0.62 else tissues.CSF
    return tissues.GREY if near or gap < width + RIBBON else tissues.WHITE
