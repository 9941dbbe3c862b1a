"""What each finding adds to the density of a film."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.smooth_noise import noise, smooth
from polymodal.data.drawn.xrays.chest import APEX, BASE_LEFT, BASE_RIGHT, bump, floor_of
from polymodal.data.drawn.xrays.findings import (
    ACROSS,
    ATELECTASIS,
    CONSOLIDATION,
    EDEMA,
    EFFUSION,
    EXTENT,
    FIBROSIS,
    HERNIA,
    INFILTRATION,
    LEFT,
    MASS,
    NODULE,
    PNEUMONIA,
    PNEUMOTHORAX,
    RIGHT,
    SEVERITY,
    THICKENING,
    UP,
)


@helper
def on_side(sign: np.ndarray, x: float) -> float:
    """How strong a sign is on the side of a place."""
    return sign[SEVERITY] * (sign[RIGHT] if x < 0.0 else sign[LEFT])


@helper
def patches_at(signs: np.ndarray, grain: np.uint64, x: float, y: float, air: float) -> float:
    """Infiltration, pneumonia, consolidation: shadows in the lung that differ by edge and grain."""
    aside, found = abs(x), 0.0
    sign = signs[INFILTRATION]
    if sign[SEVERITY] > 0.0:
        dx, dy = aside - 0.28 - 0.2 * sign[ACROSS], y + 0.30 - 0.55 * sign[UP]
        fine = noise(grain, 17.0 * x, 17.0 * y, 41.0) + 0.6 * noise(grain, 33.0 * x, 33.0 * y, 43.0)
        cloud = np.exp(-(dx * dx + dy * dy) / (0.14 + 0.08 * sign[EXTENT]) ** 2)
        found += on_side(sign, x) * cloud * (0.75 + 0.75 * fine) * air
    sign = signs[PNEUMONIA]
    if sign[SEVERITY] > 0.0:
        dx, dy = aside - 0.30 - 0.15 * sign[ACROSS], y - 0.02 - 0.26 * sign[UP]
        ragged = 0.40 * noise(grain, 6.0 * x, 6.0 * y, 51.0)
        r = np.sqrt(dx * dx + 1.4 * dy * dy) / (0.16 + 0.06 * sign[EXTENT])
        airways = 1.0 - 0.5 * max(1.0 - abs(noise(grain, 15.0 * x, 15.0 * y, 53.0)) / 0.15, 0.0)
        found += on_side(sign, x) * smooth((1.1 + ragged - r) / 0.6) * airways * air
    sign = signs[CONSOLIDATION]
    if sign[SEVERITY] > 0.0:
        upper = sign[UP] < 0.5
        line = -0.10 - 0.06 * sign[ACROSS] + (0.10 if upper else 0.45) * (aside - 0.3)
        beyond = (line - y) if upper else (y - line - 0.14)
        found += (
            on_side(sign, x)
            * smooth(beyond / 0.035 + 0.5)
            * (0.95 + 0.10 * noise(grain, 9.0 * x, 9.0 * y, 61.0))
            * air
        )
    return found


@helper
def balls_at(signs: np.ndarray, grain: np.uint64, x: float, y: float, air: float) -> float:
    """Mass and nodule, round; hernia, round behind the heart with a level of fluid in it."""
    aside, found = abs(x), 0.0
    for which in (MASS, NODULE):
        sign = signs[which]
        if sign[SEVERITY] > 0.0:
            size = 0.085 + 0.055 * sign[EXTENT] if which == MASS else 0.026 + 0.018 * sign[EXTENT]
            dx, dy = aside - 0.24 - 0.24 * sign[ACROSS], y + 0.42 - 0.62 * sign[UP]
            lobes = 1.0 + 0.18 * noise(grain, 12.0 * x, 12.0 * y, 71.0)
            there = bump(np.sqrt(dx * dx + dy * dy) / size * lobes)
            found += on_side(sign, x) * np.sqrt(there) * (0.35 + 0.65 * air)
    sign = signs[HERNIA]
    if sign[SEVERITY] > 0.0:
        size = 0.13 + 0.06 * sign[EXTENT]
        dx, dy = x - 0.05 - 0.06 * sign[ACROSS], y - 0.34
        r = np.sqrt(dx * dx + dy * dy) / size
        wall = smooth((1.0 - r) / 0.08) - smooth((0.86 - r) / 0.08)
        inside = smooth((0.92 - r) / 0.06)
        level = smooth((dy - 0.01) / 0.012)
        found += sign[SEVERITY] * (0.8 * wall + inside * (1.0 * level - 0.75 * (1.0 - level)))
    return found


@helper
def strands_at(
    signs: np.ndarray, grain: np.uint64, x: float, y: float, air: float, u: float
) -> float:
    """Atelectasis, edema, fibrosis: plates, haze about the hila, nets at the bases."""
    aside, found = abs(x), 0.0
    sign = signs[ATELECTASIS]
    if sign[SEVERITY] > 0.0:
        for k in range(2):
            course = (
                0.10 + 0.16 * sign[UP] + 0.075 * k + (0.5 * sign[EXTENT] - 0.2) * (aside - 0.35)
            )
            course += 0.01 * np.sin(9.0 * x)
            along = smooth((aside - 0.16 - 0.06 * k) / 0.05) * smooth((0.58 - aside) / 0.08)
            thick = 0.016 + 0.006 * sign[ACROSS]
            found += on_side(sign, x) * np.exp(-(((y - course) / thick) ** 2)) * along * air
    sign = signs[EDEMA]
    if sign[SEVERITY] > 0.0:
        wing = np.exp(-(((aside - 0.24) / 0.21) ** 2) - ((y + 0.0) / 0.30) ** 2)
        mottled = 0.8 + 0.5 * noise(grain, 12.0 * x, 12.0 * y, 81.0)
        rungs = smooth((u - 0.84) / 0.05) * smooth((y - 0.05) / 0.1) * smooth((0.42 - y) / 0.1)
        lines = rungs * max(np.cos(2.0 * np.pi * y / 0.032), 0.0)
        found += sign[SEVERITY] * (wing * mottled + 0.35 * lines) * air
    sign = signs[FIBROSIS]
    if sign[SEVERITY] > 0.0:
        low = smooth((y + 0.08) / 0.35) * (0.5 + 0.5 * u)
        net = max(1.0 - abs(noise(grain, 22.0 * x, 22.0 * y, 91.0)) / 0.20, 0.0)
        net += 0.8 * max(1.0 - abs(noise(grain, 31.0 * x, 31.0 * y, 93.0)) / 0.20, 0.0)
        found += sign[SEVERITY] * (0.75 * net - 0.1) * low * air
    return found


@helper
def pleura_at(
    chest: np.ndarray, signs: np.ndarray, flat: float, x: float, y: float, air: float, u: float
) -> float:
    """Effusion, pneumothorax, thickening: what lies between lung and wall."""
    found = 0.0
    sign = signs[EFFUSION]
    if sign[SEVERITY] > 0.0 and 0.0 < u < 1.0:
        base = chest[BASE_RIGHT] if x < 0.0 else chest[BASE_LEFT]
        height = 0.05 + 0.30 * sign[EXTENT]
        surface = base + 0.10 - height * (0.42 + 0.9 * u * u * u)
        below = smooth((y - surface) / 0.045) * smooth((floor_of(chest, flat, x) + 0.02 - y) / 0.03)
        found += on_side(sign, x) * below * (0.6 + 0.6 * air)
    sign = signs[PNEUMOTHORAX]
    if sign[SEVERITY] > 0.0 and 0.0 < u < 1.0:
        line = collapsed(chest, sign, y)
        found -= 0.45 * on_side(sign, x) * smooth((u - line) / 0.02) * air
        found += 0.9 * on_side(sign, x) * np.exp(-(((u - line) / 0.018) ** 2)) * smooth(air / 0.2)
    sign = signs[THICKENING]
    if sign[SEVERITY] > 0.0 and 0.0 < u < 1.0:
        reach = 0.10 + 0.07 * sign[EXTENT]
        middle = -0.35 + 0.55 * sign[UP]
        along = smooth((0.34 - abs(y - middle)) / 0.12)
        uneven = 1.0 + 0.25 * np.sin(23.0 * y + 9.0 * sign[ACROSS])
        found += on_side(sign, x) * smooth((u - 1.0 + reach * uneven) / 0.03) * along
    return found


@helper
def collapsed(chest: np.ndarray, sign: np.ndarray, y: float) -> float:
    """Where a lung ends beside the air of a pneumothorax, 1 at the wall; more is lost above."""
    below = smooth((y - chest[APEX]) / 1.1)
    return 1.0 - (0.14 + 0.26 * sign[EXTENT]) * (1.0 - 0.75 * below)


@helper
def vessels_left(chest: np.ndarray, signs: np.ndarray, x: float, y: float, u: float) -> float:
    """How strong vessels are at a place: none beside a collapsed lung, more in edema."""
    found = 1.0
    sign = signs[PNEUMOTHORAX]
    if on_side(sign, x) > 0.0:
        found = smooth((collapsed(chest, sign, y) - u) / 0.03)
    return found * (1.0 + 2.0 * signs[EDEMA, SEVERITY])
