"""A chest seen from the front: how much each part of it dims the rays.

Places are x from −1 at the patient's right, which is on the left of the film, to 1; y from −1 above.
"""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.smooth_noise import noise, smooth

(
    CAGE,
    APEX,
    BASE_RIGHT,
    BASE_LEFT,
    DOME,
    HEART,
    TILT,
    STOUT,
    ZOOM,
    SHIFT,
    LIFT,
    TURN,
    RIBS,
    AORTA,
) = range(14)
COLUMNS = 14

RANGES = (
    (0.66, 0.76),  # half the width of the cage
    (-0.76, -0.68),  # height of the apices
    (0.40, 0.50),  # of the right dome of the diaphragm
    (0.45, 0.56),  # and the left
    (0.10, 0.16),  # how far the domes rise
    (0.98, 1.18),  # size of the heart
    (-0.12, 0.16),  # how far the heart lies across
    (0.55, 0.85),  # how much soft tissue there is
    (0.93, 1.08),  # how large the chest is on the film
    (-0.05, 0.05),  # where it lies
    (-0.05, 0.05),
    (-0.05, 0.05),  # how far it is turned
    (0.115, 0.135),  # from rib to rib
    (0.075, 0.10),  # of the aortic knob
)


@helper
def bump(distance: float) -> float:
    """The path through a ball at a distance from its middle, in radii."""
    return np.sqrt(max(1.0 - distance * distance, 0.0))


@helper
def edge(chest: np.ndarray, y: float) -> float:
    """Half the width of the lungs' outer edge at a height."""
    up = (y - 0.32) / (0.32 - chest[APEX] + 0.03)
    if up >= 0.0:
        return chest[CAGE]
    return chest[CAGE] * max(1.0 - (-up) ** 2.5, 0.0) ** 0.6


@helper
def floor_of(chest: np.ndarray, flat: float, x: float) -> float:
    """The height of the diaphragm: a dome on each side that runs down to the outer angle."""
    base = chest[BASE_RIGHT] if x < 0.0 else chest[BASE_LEFT]
    from_top = (abs(x) - 0.34) / 0.36
    return base + 0.6 * flat + (chest[DOME] - flat) * (from_top * from_top - 1.0) + 0.12


@helper
def lung(chest: np.ndarray, flat: float, x: float, y: float) -> tuple[float, float]:
    """How much air lies at a place, from 0 to 1, and how far out it is in the lung."""
    inner, outer = 0.085, edge(chest, y)
    if outer <= inner + 0.02:
        return 0.0, 0.0
    u = (abs(x) - inner) / (outer - inner)
    if u <= 0.0 or u >= 1.0:
        return 0.0, u
    air = (4.0 * u * (1.0 - u)) ** 0.38
    air *= smooth((floor_of(chest, flat, x) - y) / 0.025)
    return air * smooth((y - chest[APEX]) / 0.12), u


@helper
def heart_at(chest: np.ndarray, scale: float, x: float, y: float) -> float:
    """The heart and the great vessels at a place."""
    size = chest[HEART] * scale
    c, s = np.cos(0.55 + chest[TILT]), np.sin(0.55 + chest[TILT])
    low = chest[BASE_LEFT] - 0.20
    dx, dy = x - 0.13 * size, y - low
    u, v = c * dx + s * dy, c * dy - s * dx
    left = bump(np.sqrt((u / (0.31 * size)) ** 2 + (v / (0.215 * size)) ** 2))
    right = bump(np.sqrt(((x + 0.055) / (0.135 * size)) ** 2 + ((y - low) / 0.20) ** 2))
    outflow = bump(np.sqrt(((x - 0.075) / (0.10 * size)) ** 2 + ((y - low + 0.27) / 0.17) ** 2))
    knob = bump(np.sqrt((x - 0.10) ** 2 + (y + 0.30) ** 2) / chest[AORTA])
    both = max(left, max(0.8 * right, 0.75 * outflow))
    return both + 0.4 * knob


@helper
def middle_at(x: float, y: float) -> float:
    """The mediastinum with the spine behind it and the windpipe in it."""
    found = 0.40 * smooth((0.14 - abs(x - 0.01)) / 0.08)
    disc = 0.5 + 0.5 * np.cos(2.0 * np.pi * y / 0.115)
    found += (0.07 + 0.05 * disc) * smooth((0.08 - abs(x)) / 0.035)
    if y < -0.14:
        found -= 0.20 * bump(x / 0.042)
    elif y < 0.02:
        branch = abs(x) - 0.75 * (y + 0.14)
        found -= 0.12 * bump(branch / 0.035)
    return found


@helper
def tube(distance: float, radius: float) -> float:
    """A bone at a distance from its middle: denser at its rims."""
    d = abs(distance) / radius
    if d >= 1.0:
        return 0.0
    return 0.65 * bump(d) + 0.6 * d * d * d * d * smooth((1.0 - d) / 0.12)


@helper
def bones_at(chest: np.ndarray, x: float, y: float) -> float:
    """Ribs, front and back, and the clavicles."""
    aside, found = abs(x), 0.0
    for k in range(10):
        top = chest[APEX] + 0.02 + k * chest[RIBS] * (1.0 + 0.008 * k)
        wide = max(edge(chest, top + 0.10), 0.22)
        u = aside / wide
        if aside > 0.07 and u < 1.02:
            behind = top - 0.055 * np.sin(np.pi * min(1.15 * u, 1.0)) + 0.26 * u * u * u
            found += 0.19 * tube(y - behind, 0.031) * smooth((1.03 - u) / 0.05)
        if 0.34 < u < 1.02 and k < 8:
            front = top + 0.22 + 0.30 * (1.0 - u) + 0.03 * np.sin(5.0 * u)
            found += 0.09 * tube(y - front, 0.036) * smooth((u - 0.34) / 0.2)
    if 0.06 < aside < 0.80:
        course = -0.58 - 0.16 * (aside - 0.06) + 0.035 * np.sin(6.0 * aside)
        found += 0.26 * tube(y - course, 0.034) * smooth((aside - 0.06) / 0.03)
    blade = (aside - 0.70 + 0.28 * (y + 0.25) + 0.5 * (y + 0.3) ** 2) / 0.05
    if -0.62 < y < 0.06 and abs(blade) < 1.0:
        found += 0.05 * bump(blade)
    return found


@helper
def body_at(chest: np.ndarray, x: float, y: float) -> float:
    """Soft tissue: neck, shoulders, chest wall, and the belly below the diaphragm."""
    aside = abs(x)
    outline = 0.27 + 0.83 * smooth((y + 1.04) / 0.62) - 0.13 * smooth((y + 0.45) / 0.9)
    inside = smooth((outline - aside) / 0.10)
    return inside * chest[STOUT] * (0.8 + 0.2 * smooth((y + 0.9) / 0.9))


@helper
def vessels_at(grain: np.uint64, x: float, y: float, air: float) -> float:
    """Vessels that branch out from the hila, and the hila."""
    side = 1.0 if x > 0.0 else -1.0
    dx, dy = abs(x) - 0.13, y + 0.02 + 0.03 * (x > 0.0)
    r = np.sqrt(dx * dx + dy * dy)
    angle = np.arctan2(dy, dx)
    bend = 0.5 * noise(grain, 7.0 * x, 7.0 * y, 3.0)
    streak = noise(grain, 3.2 * angle + bend + 11.0 * side, 3.0 * r + bend, 9.0)
    finer = noise(grain, 6.5 * angle - bend + 31.0 * side, 6.0 * r, 19.0)
    lines = max(1.0 - abs(streak) / 0.13, 0.0) + 0.6 * max(1.0 - abs(finer) / 0.13, 0.0)
    found = 0.34 * lines * np.exp(-r / 0.22) * air
    knot = 0.75 + 0.5 * noise(grain, 14.0 * x, 14.0 * y, 27.0)
    return found + 0.24 * knot * np.exp(-((dx / 0.075) ** 2) - (dy / 0.12) ** 2)
