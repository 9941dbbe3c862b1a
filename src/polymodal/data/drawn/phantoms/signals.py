"""From tissues to brightness: the signal equations of four MR sequences."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.randomness import key, uniform
from polymodal.data.drawn.phantoms.phantom_streams import TISSUES
from polymodal.data.drawn.phantoms.tissues import COUNT, MOST_VARIED, PROPERTIES

R1, R2 = 4.5, 5.5
"""Relaxivities of a gadolinium agent, per second and mmol/l."""

WHITEST = np.array([0.78, 0.78, 0.80, 0.62])
"""The signal that is shown as 1 in each sequence."""


@helper
def spin_echo(t1: float, t2: float, density: float, tr: float, te: float) -> float:
    """Signal of a spin echo, times in ms: PD (1 − exp(−TR/T1)) exp(−TE/T2)."""
    return density * (1.0 - np.exp(-tr / t1)) * np.exp(-te / t2)


@helper
def inversion(t1: float, t2: float, density: float, tr: float, te: float, ti: float) -> float:
    """Size of the signal of an inversion recovery: PD |1 − 2 exp(−TI/T1) + exp(−TR/T1)| exp(−TE/T2)."""
    recovered = 1.0 - 2.0 * np.exp(-ti / t1) + np.exp(-tr / t1)
    return density * abs(recovered) * np.exp(-te / t2)


@helper
def shortened(time: float, relaxivity: float, agent: float) -> float:
    """A relaxation time in ms with a contrast agent: 1/T' = 1/T + r C."""
    return 1.0 / (1.0 / time + relaxivity * agent / 1000.0)


@helper
def signal_table(seed: int, patient: int) -> np.ndarray:
    """How bright each tissue of a patient is in each sequence, 1 for the brightest that is shown."""
    start = key(seed, patient, TISSUES)
    table = np.empty((COUNT, 4))
    for tissue in range(COUNT):
        varied = np.empty(4)
        for which in range(4):
            factor = 1.0 + MOST_VARIED * (2.0 * uniform(start, 4 * tissue + which) - 1.0)
            varied[which] = PROPERTIES[tissue, which] * factor
        t1, t2, density, agent = varied
        agent *= 1.0 + 6.0 * (uniform(start, 4 * tissue + 3) - 0.5) * MOST_VARIED
        late1, late2 = shortened(t1, R1, agent), shortened(t2, R2, agent)
        table[tissue, 0] = spin_echo(t1, t2, density, 520.0, 11.0)
        table[tissue, 1] = spin_echo(late1, late2, density, 520.0, 11.0)
        table[tissue, 2] = spin_echo(t1, t2, density, 4500.0, 98.0)
        table[tissue, 3] = inversion(t1, t2, density, 9000.0, 115.0, 2450.0)
    for sequence in range(4):
        gain = 0.92 + 0.16 * uniform(start, 4 * COUNT + sequence)
        table[:, sequence] *= gain / WHITEST[sequence]
    return table
