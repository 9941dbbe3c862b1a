"""The findings of a chest film: how often each is drawn, and how strongly it shows."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from polymodal.data.drawn.kernel.randomness import uniforms

CHEST, FINDINGS, SIGNS, FILM, REPORT = 0, 1, 2, 3, 4
"""The streams of an item's random numbers."""


@dataclass(frozen=True)
class Finding:
    """Something that a film may show."""

    name: str
    rate: float
    """The share of films that have it."""
    strength: float
    """How much it changes the density of the film, at most; the lungs and the heart differ by about 0.8."""
    both: float = 0.0
    """The share of it that is on both sides."""


FINDING = (
    Finding("Atelectasis", 0.10, 0.30),
    Finding("Cardiomegaly", 0.11, 0.50),
    Finding("Effusion", 0.11, 0.50, both=0.3),
    Finding("Infiltration", 0.09, 0.26, both=0.2),
    Finding("Mass", 0.06, 0.42),
    Finding("Nodule", 0.08, 0.34),
    Finding("Pneumonia", 0.07, 0.42),
    Finding("Pneumothorax", 0.06, 0.20),
    Finding("Consolidation", 0.06, 0.52),
    Finding("Edema", 0.07, 0.42, both=1.0),
    Finding("Emphysema", 0.08, 0.16, both=1.0),
    Finding("Fibrosis", 0.06, 0.42, both=1.0),
    Finding("Pleural thickening", 0.07, 0.40),
    Finding("Hernia", 0.04, 0.30),
)
"""Those of ChestX-ray14, in its order."""

NAMES = tuple(finding.name for finding in FINDING)
(
    ATELECTASIS, CARDIOMEGALY, EFFUSION, INFILTRATION, MASS, NODULE, PNEUMONIA,
    PNEUMOTHORAX, CONSOLIDATION, EDEMA, EMPHYSEMA, FIBROSIS, THICKENING, HERNIA,
) = range(len(FINDING))  # fmt: skip

SEVERITY, RIGHT, LEFT, ACROSS, UP, EXTENT = 0, 1, 2, 3, 4, 5
"""Columns of a sign: 0 or how strong it is; 1 for each side; three numbers in [0, 1) for its place."""


def present(root: int, item: int) -> np.ndarray:
    """Which findings an item has."""
    found: np.ndarray = uniforms(root, item, FINDINGS, len(FINDING)) < [f.rate for f in FINDING]
    return found


def signs(root: int, item: int, strength: float = 1.0) -> Float64[np.ndarray, "14 6"]:
    """How each finding of an item shows.

    Args:
        root: the seed of the split.
        item: its number.
        strength: of all findings, 1 for their own.
    """
    there = present(root, item)
    numbers = uniforms(root, item, SIGNS, 6 * len(FINDING)).reshape(-1, 6)
    table = np.zeros((len(FINDING), 6))
    for k, finding in enumerate(FINDING):
        if there[k]:
            degree, side, pair, *place = numbers[k].tolist()
            right = side < 0.55 or pair < finding.both
            left = side >= 0.55 or pair < finding.both
            severity = strength * finding.strength * (0.55 + 0.45 * degree)
            table[k] = [severity, right, left, *place]
    return table
