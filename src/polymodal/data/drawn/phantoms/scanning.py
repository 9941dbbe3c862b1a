"""The scan of a phantom: what each voxel of four sequences shows, and the class that it is of."""

from typing import NamedTuple

import numpy as np

from polymodal.data.drawn.kernel.compiling import entry, helper
from polymodal.data.drawn.kernel.randomness import key, uniform
from polymodal.data.drawn.kernel.smooth_noise import between, noise
from polymodal.data.drawn.phantoms import phantom_streams, tissues
from polymodal.data.drawn.phantoms import tumour as lesions
from polymodal.data.drawn.phantoms.phantom_head import (
    COLUMNS,
    FORWARD,
    LEAN,
    RIGHT,
    TURN,
    brain_tissue,
    depth_in_brain,
    make_head,
    shell_tissue,
)
from polymodal.data.drawn.phantoms.signals import signal_table

LEVELS = 4095
"""Steps of brightness, 12 bits as scanners keep them: below what machines may differ by."""

BIAS, GRAIN, SHIFT, STRIPPED = 0, 1, 2, 3
"""The columns of the scanner's options."""

FINE = 2
"""Points along each side of a voxel within a plane."""


@helper
def posed(
    head: np.ndarray, shift: np.ndarray, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A place of the scanner as a place in the head, which lies turned and moved in it."""
    x, y, z = x - head[RIGHT] - shift[0], y - head[FORWARD] - shift[1], z - shift[2]
    turn = head[TURN] + shift[3]
    c, s = np.cos(turn), np.sin(turn)
    x, y = c * x + s * y, c * y - s * x
    return x + head[LEAN] * z, y, z - head[LEAN] * x


class Subject(NamedTuple):
    """All that is known of a patient before the scan."""

    head: np.ndarray
    tumour: np.ndarray
    folds: np.uint64
    shape: np.uint64
    table: np.ndarray
    fields: np.ndarray
    shifts: np.ndarray


@helper
def make_subject(seed: int, patient: int, shift: float) -> Subject:
    """One patient, whose sequences lie up to so many mm beside the mask."""
    head, tumour = np.empty(COLUMNS), np.empty(lesions.COLUMNS)
    folds = key(seed, patient, phantom_streams.FOLDS)
    make_head(seed, patient, head)
    lesions.make_tumour(seed, patient, head, folds, tumour)
    return Subject(
        head,
        tumour,
        folds,
        key(seed, patient, phantom_streams.SHAPE),
        signal_table(seed, patient),
        make_fields(seed, patient),
        make_shifts(seed, patient, shift),
    )


@helper
def look(subject: Subject, x: float, y: float, z: float) -> tuple[int, int, float]:
    """The tissue at a place of the head, the tumour's tissue or −1, and how much of the place that is."""
    head, tumour, folds = subject.head, subject.tumour, subject.folds
    depth = depth_in_brain(head, x, y, z)
    if depth < 0.0:
        return shell_tissue(head, folds, depth, x, y, z), -1, 0.0
    u, v, w = lesions.pushed_place(tumour, depth, x, y, z)
    found = brain_tissue(head, folds, max(depth_in_brain(head, u, v, w), 0.0), u, v, w)
    of_tumour, amount = lesions.tumour_tissue(tumour, subject.shape, found, x, y, z)
    return found, of_tumour, amount


@helper
def class_of(tissue: int, amount: float) -> int:
    """The class of the mask: necrosis, oedema, enhancing tumour, or 0."""
    if tissue < 0 or amount < 0.5:
        return 0
    return tissue - tissues.NECROSIS + 1


@helper
def bias_at(field: np.ndarray, strength: float, x: float, y: float, z: float) -> float:
    """The gain of the coil at a place, near 1 and slowly changing."""
    found = 0.0
    for k in range(3):
        row = field[k]
        found += row[3] * np.cos(row[0] * x + row[1] * y + row[2] * z + row[4])
    return np.exp(strength * found)


@helper
def make_fields(seed: int, patient: int) -> np.ndarray:
    """The waves of which each sequence's bias field is made."""
    start = key(seed, patient, phantom_streams.SCANNER)
    fields, counter = np.empty((4, 3, 5)), 0
    for sequence in range(4):
        for k in range(3):
            for column in range(5):
                number = uniform(start, counter)
                counter += 1
                if column < 3:
                    fields[sequence, k, column] = between(number, -0.022, 0.022)
                elif column == 3:
                    fields[sequence, k, column] = between(number, 0.3, 0.9)
                else:
                    fields[sequence, k, column] = between(number, 0.0, 2.0 * np.pi)
    return fields


@helper
def make_shifts(seed: int, patient: int, most: float) -> np.ndarray:
    """How far each sequence is out of place: x, y, z in mm and a turn; the last row, the mask, is not."""
    start = key(seed, patient, phantom_streams.SCANNER)
    shifts = np.zeros((5, 4))
    for sequence in range(4):
        for column in range(3):
            number = uniform(start, 100 + 4 * sequence + column)
            shifts[sequence, column] = most * (2.0 * number - 1.0)
        shifts[sequence, 3] = most * 0.012 * (2.0 * uniform(start, 103 + 4 * sequence) - 1.0)
    return shifts


@helper
def rician(signal: float, grain: float, start: np.uint64, counter: int) -> float:
    """The size of a signal with noise in both of its channels."""
    if grain <= 0.0:
        return signal
    far = grain * np.sqrt(-2.0 * np.log(1.0 - uniform(start, 2 * counter)))
    turn = 2.0 * np.pi * uniform(start, 2 * counter + 1)
    return np.sqrt((signal + far * np.cos(turn)) ** 2 + (far * np.sin(turn)) ** 2)


@helper
def light_of(
    subject: Subject, which: int, place: np.ndarray, stripped: bool, votes: np.ndarray
) -> np.ndarray:
    """The light of one voxel in every sequence, a mean of points; the classes of the points are counted.

    Args:
        subject: whose head.
        which: the sequence whose place it is that counts; 4 for that of the mask.
        place: x, y, z of the voxel and its width, in mm.
        stripped: whether the skull is cut away.
        votes: filled with how many points are of each class.
    """
    light, shape = np.zeros(4), subject.shape
    votes[:] = 0
    for point in range(FINE * FINE):
        x = place[0] + ((point // FINE + 0.5) / FINE - 0.5) * place[3]
        y = place[1] + ((point % FINE + 0.5) / FINE - 0.5) * place[3]
        u, v, w = posed(subject.head, subject.shifts[which], x, y, place[2])
        tissue, inside, amount = look(subject, u, v, w)
        votes[class_of(inside, amount)] += 1
        if tissue == tissues.AIR or (stripped and tissue < tissues.CSF):
            continue
        texture = 1.0 + 0.03 * noise(shape + np.uint64(9), u / 4.0, v / 4.0, w / 4.0)
        patchy = 1.0
        if inside == tissues.ENHANCING:
            patchy += 0.22 * noise(shape + np.uint64(8), u / 4.5, v / 4.5, w / 4.5)
        for sequence in range(4):
            signal = subject.table[tissue, sequence]
            if inside >= 0:
                signal += amount * (subject.table[inside, sequence] - signal)
            light[sequence] += signal * texture * (patchy if sequence == 1 else 1.0)
    return light / (FINE * FINE)


@helper
def winner(votes: np.ndarray) -> int:
    """The class that most points of a voxel are of; of equals the highest."""
    best = 0
    for k in range(1, len(votes)):
        if votes[k] >= votes[best]:
            best = k
    return best


@helper
def show(
    subject: Subject, starts: np.ndarray, number: int, place: np.ndarray, options: np.ndarray,
    levels: np.ndarray,
) -> int:  # fmt: skip
    """Fill in what one voxel shows in each sequence, and give its class.

    Args:
        subject: whose head.
        starts: of each sequence's noise.
        number: the voxel's, by which its noise is known.
        place: x, y, z of the voxel and its width, in mm.
        options: the scanner's.
        levels: four numbers from 0 to `LEVELS`.
    """
    votes, stripped = np.empty(4, np.int64), options[STRIPPED] > 0.0
    light = light_of(subject, 4, place, stripped, votes)
    found = winner(votes)
    for sequence in range(4):
        if options[SHIFT] > 0.0:
            light[sequence] = light_of(subject, sequence, place, stripped, votes)[sequence]
        field = subject.fields[sequence]
        signal = light[sequence] * bias_at(field, options[BIAS], place[0], place[1], place[2])
        if not stripped or signal > 0.0:
            signal = rician(signal, options[GRAIN], starts[sequence], number)
        levels[sequence] = min(int(signal * LEVELS + 0.5), LEVELS)
    return found


@entry
def scan(
    seed: int,
    patient: int,
    first: int,
    heights: np.ndarray,
    spacing: float,
    options: np.ndarray,
    out: np.ndarray,
    mask: np.ndarray,
) -> None:
    """Scan some planes of a patient.

    Args:
        seed, patient: whose head.
        first: the number of the first plane, by which its noise is known.
        heights: of each plane, in mm.
        spacing: mm from pixel to pixel.
        options: strengths of bias and noise, mm out of place, and whether the skull is cut away.
        out: four sequences × planes × rows × columns, filled with 0 to `LEVELS`.
        mask: planes × rows × columns, filled with classes.
    """
    size = out.shape[3]
    subject = make_subject(seed, patient, options[SHIFT])
    starts = np.empty(4, np.uint64)
    for sequence in range(4):
        starts[sequence] = key(seed, patient, phantom_streams.GRAIN + sequence)
    place, middle = np.empty(4), 0.5 * size - 0.5
    place[3] = spacing
    for plane in range(len(heights)):
        place[2] = heights[plane]
        for row in range(size):
            place[1] = (middle - row) * spacing
            for column in range(size):
                place[0] = (column - middle) * spacing
                number = ((first + plane) * size + row) * size + column
                levels = out[:, plane, row, column]
                mask[plane, row, column] = show(subject, starts, number, place, options, levels)
