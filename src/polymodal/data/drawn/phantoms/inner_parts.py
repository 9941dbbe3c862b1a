"""Parts inside the brain: ventricles, choroid plexus, deep grey nuclei."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.phantoms import tissues

HORNS = np.array(
    # x, y, z, radius of points along one lateral ventricle, from its frontal to its occipital horn
    [
        (15.0, 31.0, 6.0, 2.6),
        (8.0, 20.0, 11.0, 4.4),
        (6.5, 4.0, 19.0, 4.6),
        (9.5, -14.0, 21.0, 4.6),
        (18.0, -30.0, 14.0, 6.0),
        (22.0, -40.0, 8.0, 4.2),
        (22.0, -55.0, 4.0, 2.0),
    ]
)

NUCLEI = np.array(
    # x, y, z of the middle, half the axes, turn about z
    [
        (14.5, 17.0, 11.0, 5.0, 10.5, 10.0, -0.30),  # caudate
        (11.0, -11.0, 7.0, 8.0, 14.0, 8.5, 0.38),  # thalamus
        (26.0, 3.0, 3.0, 5.6, 15.5, 12.0, 0.16),  # putamen and pallidum
    ]
)


@helper
def from_segment(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Mm from a point to a rod between two others, whose radius is in their fourth column."""
    bx, by, bz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    px, py, pz = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    t = (px * bx + py * by + pz * bz) / (bx * bx + by * by + bz * bz)
    t = min(max(t, 0.0), 1.0)
    dx, dy, dz = px - t * bx, py - t * by, pz - t * bz
    return np.sqrt(dx * dx + dy * dy + dz * dz) - (a[3] + t * (b[3] - a[3]))


@helper
def from_ventricle(size: float, x: float, y: float, z: float) -> float:
    """Mm outside a lateral ventricle of a size, 1 for the usual; x is positive."""
    place = np.array((x, y, z))
    nearest = 1e9
    for k in range(len(HORNS) - 1):
        a, b = HORNS[k].copy(), HORNS[k + 1].copy()
        a[3] *= size
        b[3] *= size
        nearest = min(nearest, from_segment(place, a, b))
    return nearest


@helper
def in_nucleus(row: np.ndarray, x: float, y: float, z: float) -> bool:
    """Whether a place is inside a deep nucleus."""
    dx, dy, dz = x - row[0], y - row[1], z - row[2]
    c, s = np.cos(row[6]), np.sin(row[6])
    u, v = c * dx - s * dy, s * dx + c * dy
    return (u / row[3]) ** 2 + (v / row[4]) ** 2 + (dz / row[5]) ** 2 < 1.0


@helper
def inner_tissue(size: float, lopsided: float, x: float, y: float, z: float) -> int:
    """The tissue of an inner part, −1 where there is none."""
    if abs(x) > 45.0 or not -70.0 < y < 45.0 or not -25.0 < z < 35.0:
        return -1
    aside = abs(x)
    own = size * (1.0 + (lopsided if x > 0.0 else -lopsided))
    outside = from_ventricle(own, aside, y, z)
    if outside < 0.0:
        plexus = (aside - 18.0) ** 2 + (y + 30.0) ** 2 + (z - 14.0) ** 2
        return tissues.PLEXUS if plexus < 9.0 and outside < -1.5 else tissues.CSF
    if aside < 1.5 * size and -16.0 < y < 6.0 and -14.0 < z < 9.0:
        return tissues.CSF  # the third ventricle
    for k in range(len(NUCLEI)):
        if in_nucleus(NUCLEI[k], aside, y, z):
            return tissues.DEEP if k == 2 or outside > 0.6 else tissues.WHITE
    return -1
