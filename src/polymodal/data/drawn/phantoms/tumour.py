"""A tumour: a dead core, a rim that takes up contrast agent, and oedema that follows white matter."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.randomness import key, uniform
from polymodal.data.drawn.kernel.smooth_noise import between, noise, smooth
from polymodal.data.drawn.phantoms import phantom_streams, tissues
from polymodal.data.drawn.phantoms.phantom_head import brain_tissue, depth_in_brain

X, Y, Z, RADIUS, RIM, SWELLING, PUSH, LONG, FLAT, SLANT = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
COLUMNS = 10

TRIES = 200


@helper
def make_tumour(
    seed: int, patient: int, head: np.ndarray, folds: np.uint64, tumour: np.ndarray
) -> None:
    """Where a patient's tumour is and how large: its middle is in white matter."""
    start = key(seed, patient, phantom_streams.LESION)
    for attempt in range(TRIES):
        first = 16 + 4 * attempt
        side = 1.0 if uniform(start, first) < 0.5 else -1.0
        x = side * between(uniform(start, first + 1), 15.0, 48.0)
        y = between(uniform(start, first + 2), -58.0, 58.0)
        z = between(uniform(start, first + 3), 8.0, 40.0)
        depth = depth_in_brain(head, x, y, z)
        white = depth > 13.0 and brain_tissue(head, folds, depth, x, y, z) == tissues.WHITE
        if white or attempt == TRIES - 1:
            tumour[X], tumour[Y], tumour[Z] = x, y, z
            break
    tumour[RADIUS] = between(uniform(start, 0), 9.0, 22.0)
    tumour[RIM] = between(uniform(start, 1), 3.0, 7.0)
    tumour[SWELLING] = between(uniform(start, 2), 7.0, 22.0)
    tumour[PUSH] = between(uniform(start, 3), 0.10, 0.42) * tumour[RADIUS]
    tumour[LONG] = between(uniform(start, 4), 0.78, 1.28)
    tumour[FLAT] = between(uniform(start, 5), 0.82, 1.2)
    tumour[SLANT] = between(uniform(start, 6), 0.0, np.pi)


@helper
def pushed_place(
    tumour: np.ndarray, depth: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Where the tissue of a place would lie without the tumour, which pushes it away."""
    dx, dy, dz = x - tumour[X], y - tumour[Y], z - tumour[Z]
    far = np.sqrt(dx * dx + dy * dy + dz * dz)
    beyond = max(far - tumour[RADIUS], 0.0) / 20.0
    amount = tumour[PUSH] * np.exp(-beyond * beyond) * smooth(depth / 18.0)
    share = amount / max(far, tumour[RADIUS])
    return x - share * dx, y - share * dy, z - share * dz


@helper
def from_middle(
    tumour: np.ndarray, shape: np.uint64, x: float, y: float, z: float
) -> tuple[float, float]:
    """Mm from the middle of the tumour as if it were a ball, and how far the ball is dented there."""
    dx, dy, dz = x - tumour[X], y - tumour[Y], z - tumour[Z]
    c, s = np.cos(tumour[SLANT]), np.sin(tumour[SLANT])
    u, v, w = (c * dx + s * dy) / tumour[LONG], (c * dy - s * dx) * tumour[LONG], dz / tumour[FLAT]
    far = np.sqrt(u * u + v * v + w * w)
    dent = noise(shape, x / 13.0, y / 13.0, z / 13.0)
    fine = noise(shape + np.uint64(1), x / 5.5, y / 5.5, z / 5.5)
    return far * (1.0 + 0.24 * dent + 0.10 * fine), dent


@helper
def tumour_tissue(
    tumour: np.ndarray, shape: np.uint64, around: int, x: float, y: float, z: float
) -> tuple[int, float]:
    """The tissue of the tumour at a place and how much of the place it is; −1 and 0 outside.

    Args:
        tumour: the patient's.
        shape: of the noise that shapes it.
        around: the tissue that would be there.
        x, y, z: the place, in mm.
    """
    far, dent = from_middle(tumour, shape, x, y, z)
    most = tumour[RADIUS] + 1.7 * tumour[SWELLING]
    if far > most:
        return -1, 0.0
    if far < tumour[RADIUS]:
        uneven = noise(shape + np.uint64(2), x / 8.0, y / 8.0, z / 8.0)
        rim = tumour[RIM] * (1.0 + 0.75 * uneven)
        return (tissues.NECROSIS if far < tumour[RADIUS] - rim else tissues.ENHANCING), 1.0
    if around == tissues.CSF or around == tissues.VESSEL or around == tissues.PLEXUS:
        return -1, 0.0
    a, b = 0.8 * x + 0.6 * y, 0.8 * y - 0.6 * x  # so that no edge follows the rows and columns
    finger = 0.7 * noise(shape + np.uint64(3), a / 18.0, b / 18.0, z / 24.0)
    finger += 0.45 * noise(shape + np.uint64(4), b / 8.0, (a + z) / 8.0, (z - a) / 11.0)
    edge = tumour[RADIUS] + tumour[SWELLING] * (0.85 + 0.75 * finger + 0.1 * dent)
    amount = smooth((edge - far) / 7.0 + 0.5)
    if around == tissues.GREY:
        amount *= 0.42  # oedema spreads along white matter and spares the cortex
    return tissues.OEDEMA, 0.95 * amount
