"""A head as tissues in space, in mm from its middle: x to the patient's left, y forward, z up."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.randomness import key, uniform
from polymodal.data.drawn.kernel.smooth_noise import between, noise
from polymodal.data.drawn.phantoms import cortex, phantom_streams, tissues
from polymodal.data.drawn.phantoms.inner_parts import inner_tissue

WIDTH, LENGTH, HEIGHT, EGG, GAP, SKULL, SCALP = 0, 1, 2, 3, 4, 5, 6
SULCUS, VENTRICLE, TURN, RIGHT, FORWARD, LEAN, LOPSIDED = 7, 8, 9, 10, 11, 12, 13
COLUMNS = 14

RANGES = np.array(
    [
        (62.0, 69.0),  # half the width of the brain
        (80.0, 89.0),  # half its length
        (68.0, 76.0),  # its height
        (0.03, 0.10),  # how much wider it is behind
        (1.6, 3.4),  # fluid between brain and skull
        (5.5, 8.0),  # thickness of the skull
        (4.0, 7.5),  # of the scalp
        (0.35, 1.05),  # half the width of a sulcus
        (0.72, 1.4),  # size of the ventricles
        (-0.10, 0.10),  # how far the head is turned
        (-4.0, 4.0),  # how far it lies to one side
        (-5.0, 5.0),  # and forward
        (-0.05, 0.05),  # how far it leans
        (-0.10, 0.10),  # how much larger one ventricle is
    ]
)


@helper
def make_head(seed: int, patient: int, head: np.ndarray) -> None:
    """The shape of one patient's head."""
    start = key(seed, patient, phantom_streams.HEAD)
    for column in range(COLUMNS):
        head[column] = between(uniform(start, column), RANGES[column, 0], RANGES[column, 1])


@helper
def depth_in_brain(head: np.ndarray, x: float, y: float, z: float) -> float:
    """Mm from the surface of the brain along a line to its middle, negative outside."""
    wide = head[WIDTH] * (1.0 - head[EGG] * y / head[LENGTH])
    # flatter at the sides than an ellipse
    a, b, c = abs(x) / wide, abs(y) / head[LENGTH], abs(z) / head[HEIGHT]
    r = (a**2.25 + b**2.25 + c**2.25) ** (1.0 / 2.25)
    far = np.sqrt(x * x + y * y + z * z)
    return far * (1.0 / max(r, 1e-6) - 1.0)


@helper
def shell_tissue(
    head: np.ndarray, folds: np.uint64, depth: float, x: float, y: float, z: float
) -> int:
    """What surrounds the brain, at a negative depth: fluid, dura, skull, muscle, fat, skin, air."""
    out = -depth
    uneven = noise(folds, x / 30.0, y / 30.0, z / 30.0)
    gap = head[GAP] * (1.0 + 0.3 * uneven)
    sinus = 5.0 if y < 0.0 else 2.5  # the sinus in the midline, larger behind
    if out < gap + 2.0 and abs(x) < sinus - 0.7 * abs(out - gap) and z > -20.0:
        return tissues.VESSEL
    if out < gap:
        return tissues.CSF
    out -= gap
    if out < 1.1:
        return tissues.DURA
    out -= 1.1
    skull = head[SKULL] * (1.0 + 0.22 * uneven) * (1.0 if abs(x) < 45.0 else 0.75)
    if out < skull:
        inner = 0.3 * skull < out < 0.72 * skull
        return tissues.MARROW if inner and abs(x) < 52.0 else tissues.BONE
    out -= skull
    far = (abs(y - 16.0) / 34.0) ** 2 + (max(z, 0.0) / 36.0) ** 2  # from the middle of the temple
    muscle = 6.0 * max(1.0 - far, 0.0) if abs(x) > 40.0 else 0.0
    if out < muscle:
        return tissues.MUSCLE
    out -= muscle
    scalp = head[SCALP] * (1.0 + 0.25 * uneven) * (1.25 if y < -40.0 else 1.0)
    if out < scalp:
        return tissues.FAT if out < scalp - 1.7 else tissues.SKIN
    return tissues.AIR


@helper
def brain_tissue(
    head: np.ndarray, folds: np.uint64, depth: float, x: float, y: float, z: float
) -> int:
    """What the brain is at a place of it: ventricles and nuclei, sulci and cortex, else white matter."""
    found = inner_tissue(head[VENTRICLE], head[LOPSIDED], x, y, z)
    if found >= 0:
        return found
    return cortex.cortex_tissue(
        folds, head[SULCUS], depth, x, y, z, x / head[WIDTH], y / head[LENGTH], z / head[HEIGHT]
    )
