"""Who is seen where: each body is traced inside its own bounds, and the nearest keeps a point."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import get
from polymodal.data.drawn.scenes.geometry import MISS, hit
from polymodal.data.drawn.scenes.stage import EYE, bounds, ray


@helper
def window(stage: np.ndarray, body: np.ndarray, side: int) -> tuple[int, int, int, int]:
    """The columns and rows of a grid that a body may touch: first and past the last."""
    left, right, bottom, top = bounds(stage, body)
    half = 0.5 * side
    return (
        max(int((left + 1.0) * half) - 1, 0),
        min(int((right + 1.0) * half) + 2, side),
        max(int((1.0 - top) * half) - 1, 0),
        min(int((1.0 - bottom) * half) + 2, side),
    )


@helper
def depths(stage: np.ndarray, body: np.ndarray, depth: np.ndarray) -> tuple[int, int, int, int]:
    """Trace a body over its window of a grid, write its depths there, and give the window."""
    side = depth.shape[0]
    first, last, top, bottom = window(stage, body, side)
    step, eye = 2.0 / side, get(stage, EYE)
    for row in range(top, bottom):
        upward = 1.0 - (row + 0.5) * step
        for column in range(first, last):
            to = ray(stage, (column + 0.5) * step - 1.0, upward)
            depth[row, column] = hit(body, eye, to)
    return first, last, top, bottom


@helper
def nearest_depths(
    stage: np.ndarray, bodies: np.ndarray, count: int, side: int
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest depth at each point of a grid, and whose it is: k + 1 for body k, 0 for none."""
    depth = np.full((side, side), MISS)
    owner = np.zeros((side, side), np.uint8)
    scratch = np.empty((side, side))
    for k in range(count):
        first, last, top, bottom = depths(stage, bodies[k], scratch)
        for row in range(top, bottom):
            for column in range(first, last):
                if scratch[row, column] < depth[row, column]:
                    depth[row, column] = scratch[row, column]
                    owner[row, column] = k + 1
    return depth, owner


@helper
def majority(owner: np.ndarray, mask: np.ndarray) -> None:
    """Give each pixel to who holds most of its 2 × 2 points; a tie to a body, the earlier one."""
    for row in range(mask.shape[0]):
        for column in range(mask.shape[1]):
            best, most = np.uint8(0), 0
            for point in range(4):
                one = owner[2 * row + point // 2, 2 * column + point % 2]
                held = 0
                for other in range(4):
                    if owner[2 * row + other // 2, 2 * column + other % 2] == one:
                        held += 1
                wins_tie = held == most and one != 0 and (best == 0 or one < best)
                if held > most or wins_tie:
                    best, most = one, held
            mask[row, column] = best


@helper
def frame(
    stage: np.ndarray, bodies: np.ndarray, count: int, mask: np.ndarray, boxes: np.ndarray
) -> None:
    """The bounds of each body's pixels: x0, y0, x1, y1.

    A body too small to win a pixel, which only happens in very small images, gets the one pixel
    that its centre falls on.
    """
    side = mask.shape[0]
    for k in range(count):
        boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = side, side, 0, 0
    for row in range(side):
        for column in range(side):
            k = int(mask[row, column]) - 1
            if k >= 0:
                boxes[k, 0] = min(boxes[k, 0], column)
                boxes[k, 1] = min(boxes[k, 1], row)
                boxes[k, 2] = max(boxes[k, 2], column + 1)
                boxes[k, 3] = max(boxes[k, 3], row + 1)
    for k in range(count):
        if boxes[k, 2] == 0:
            left, right, bottom, top = bounds(stage, bodies[k])
            column = min(max(int((0.5 * (left + right) + 1.0) * 0.5 * side), 0), side - 1)
            row = min(max(int((1.0 - 0.5 * (bottom + top)) * 0.5 * side), 0), side - 1)
            boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = column, row, column + 1, row + 1
