"""What is in a scene and where it stands: attributes first, then places, by rejection.

Attributes are never drawn again, so that rejection cannot skew them.
"""

import math

import numpy as np

from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import dot, get, minus
from polymodal.data.drawn.scenes import attributes, geometry
from polymodal.data.drawn.scenes.geometry import (
    AHEAD,
    ASIDE,
    BOUND,
    COS,
    DEPTH,
    EXTENT,
    MISS,
    SHAPE,
    SIN,
    SIZE,
    X,
    Y,
    Z,
)
from polymodal.data.drawn.scenes.stage import EYE, FORWARD, RIGHT, bounds
from polymodal.data.drawn.scenes.visibility import depths

GRID = 128
"""Visibility is judged on a grid of 128 × 128 rays, whatever the image's size."""

VISIBLE, GLIMPSE = 0.55, 0.1
"""The least that is seen of a body: by default, and where overlap is asked for."""

ACROSS, NEAREST, FARTHEST = 3.6, -3.4, 3.8
"""Bodies stand this far from the middle at most: to either side, to the front and to the back."""

MARGIN = 0.3
"""How far apart any two stand across and in depth, so that each relation is beyond doubt."""

GAP = 0.12
"""The least room between any two."""

TRIES, RESTARTS = 60, 400
"""Places tried for a body before all are lifted again, and how often that is done."""

RADII = attributes.RADII
CUBE_SIDE = attributes.CUBE
ROOT2, ROOT3 = math.sqrt(2.0), math.sqrt(3.0)


@helper
def draw_attributes(
    seed: int, item: int, fewest: int, choices: np.ndarray, bodies: np.ndarray
) -> int:
    """Draw how many bodies there are and what each is; give their number.

    `choices[a]` lists, after their number, the codes that attribute a may take.
    """
    start = randomness.key(seed, item, randomness.ATTRIBUTES)
    count = fewest + randomness.below(start, 0, bodies.shape[0] - fewest + 1)
    for k in range(count):
        for a in range(4):
            chosen = randomness.below(start, 1 + 4 * k + a, choices[a, 0])
            bodies[k, a] = choices[a, 1 + chosen]
    return count


@helper
def shape_body(body: np.ndarray) -> None:
    """Give a body the extent, the height and the bounding sphere that its attributes ask for."""
    extent = RADII[0] if body[SIZE] == 0.0 else RADII[1]
    stretch = 1.0
    if body[SHAPE] == geometry.CYLINDER:
        stretch = ROOT2
    if body[SHAPE] == geometry.CUBE:
        extent *= CUBE_SIDE
        stretch = ROOT3
    body[EXTENT], body[Z], body[BOUND] = extent, extent, extent * stretch


@helper
def footprint(body: np.ndarray) -> float:
    """The radius of the circle on the ground that a body keeps within."""
    return body[EXTENT] * (ROOT2 if body[SHAPE] == geometry.CUBE else 1.0)


@helper
def put_down(body: np.ndarray, start: np.uint64, counter: int) -> int:
    """Draw a place and a turn; give the counter that comes next."""
    body[X] = ACROSS * (2.0 * randomness.uniform(start, counter) - 1.0)
    body[Y] = NEAREST + (FARTHEST - NEAREST) * randomness.uniform(start, counter + 1)
    counter += 2
    while True:  # a point of the disc gives a direction without a cosine
        a = 2.0 * randomness.uniform(start, counter) - 1.0
        b = 2.0 * randomness.uniform(start, counter + 1) - 1.0
        counter += 2
        square = a * a + b * b
        if 0.01 < square <= 1.0:
            scale = 1.0 / np.sqrt(square)
            body[COS], body[SIN] = a * scale, b * scale
            return counter


@helper
def ahead(stage: np.ndarray, x: float, y: float) -> float:
    """The depth of a point of the ground, measured on the ground: positive is further off."""
    fx, fy = stage[FORWARD], stage[FORWARD + 1]
    return (x * fx + y * fy) / np.sqrt(fx * fx + fy * fy)


@helper
def aside(stage: np.ndarray, x: float, y: float) -> float:
    """How far to the right a point of the ground lies; the camera's right is level."""
    return x * stage[RIGHT] + y * stage[RIGHT + 1]


@helper
def has_room(stage: np.ndarray, bodies: np.ndarray, placed: np.ndarray, k: int) -> bool:
    """Whether body k is wholly in the frame, touches none and stands clear of every one's axes."""
    left, right, bottom, top = bounds(stage, bodies[k])
    if left < -0.98 or right > 0.98 or bottom < -0.98 or top > 0.98:
        return False
    for j in range(bodies.shape[0]):
        if not placed[j]:
            continue
        x, y = bodies[k, X] - bodies[j, X], bodies[k, Y] - bodies[j, Y]
        room = footprint(bodies[k]) + footprint(bodies[j]) + GAP
        if x * x + y * y < room * room:
            return False
        if abs(aside(stage, x, y)) < MARGIN or abs(ahead(stage, x, y)) < MARGIN:
            return False
    return True


@helper
def is_seen(
    stage: np.ndarray,
    bodies: np.ndarray,
    k: int,
    least: float,
    depth: np.ndarray,
    owner: np.ndarray,
    scratch: np.ndarray,
    whole: np.ndarray,
    seen: np.ndarray,
) -> bool:
    """Put body k into the picture if it and all others stay visible enough; say whether."""
    first, last, top, bottom = depths(stage, bodies[k], scratch)
    total, won = 0, 0
    lost = np.zeros(bodies.shape[0], np.int64)
    for row in range(top, bottom):
        for column in range(first, last):
            if scratch[row, column] >= MISS:
                continue
            total += 1
            if scratch[row, column] < depth[row, column]:
                won += 1
                if owner[row, column] > 0:
                    lost[owner[row, column] - 1] += 1
    if total == 0 or won < least * total:
        return False
    for j in range(bodies.shape[0]):
        if lost[j] > 0 and seen[j] - lost[j] < least * whole[j]:
            return False
    whole[k] = total
    seen[k] = won
    for j in range(bodies.shape[0]):
        seen[j] -= lost[j]
    for row in range(top, bottom):
        for column in range(first, last):
            if scratch[row, column] < depth[row, column]:
                depth[row, column] = scratch[row, column]
                owner[row, column] = k + 1
    return True


@helper
def note(stage: np.ndarray, body: np.ndarray, visible: float) -> None:
    """Write what the camera makes of a body's place."""
    from_eye = minus(get(body, X), get(stage, EYE))
    body[geometry.VISIBLE] = visible
    body[ASIDE], body[AHEAD] = aside(stage, body[X], body[Y]), ahead(stage, body[X], body[Y])
    body[DEPTH] = np.sqrt(dot(from_eye, from_eye))


@helper
def place(
    seed: int, item: int, least: float, stage: np.ndarray, bodies: np.ndarray, count: int
) -> bool:
    """Find a place for every body, large ones first; False where none was found."""
    start = randomness.key(seed, item, randomness.PLACES)
    counter = 0
    depth, scratch = np.empty((GRID, GRID)), np.empty((GRID, GRID))
    owner = np.empty((GRID, GRID), np.uint8)
    placed = np.zeros(count, np.bool_)
    whole, seen = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(RESTARTS):
        depth[:], owner[:], placed[:] = MISS, 0, False
        whole[:], seen[:] = 0, 0
        standing = 0
        for turn in range(2 * count):
            k = turn % count
            if (bodies[k, SIZE] == 1.0) != (turn < count):
                continue
            for _try in range(TRIES):
                counter = put_down(bodies[k], start, counter)
                if has_room(stage, bodies, placed, k) and is_seen(
                    stage, bodies, k, least, depth, owner, scratch, whole, seen
                ):
                    placed[k] = True
                    standing += 1
                    break
            if not placed[k]:
                break
        if standing == count:
            for k in range(count):
                note(stage, bodies[k], seen[k] / whole[k])
            return True
    return False
