"""What is asked of the tracer: attributes, layouts, masks with boxes, and pictures."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import entry
from polymodal.data.drawn.kernel.screen import byte, curve
from polymodal.data.drawn.kernel.vectors import along, get
from polymodal.data.drawn.scenes.scene_layout import draw_attributes, place, shape_body
from polymodal.data.drawn.scenes.shading import shade_body, shade_ground
from polymodal.data.drawn.scenes.stage import EYE, ray, set_stage
from polymodal.data.drawn.scenes.visibility import frame, majority, nearest_depths


@entry
def list_attributes(
    seed: int, items: np.ndarray, fewest: int, choices: np.ndarray, bodies: np.ndarray
) -> np.ndarray:
    """Write only what each item's bodies are; give their numbers. Nothing is traced."""
    counts = np.zeros(items.size, np.int64)
    for i in range(items.size):
        counts[i] = draw_attributes(seed, items[i], fewest, choices, bodies[i])
    return counts


@entry
def lay_out(
    seed: int,
    item: int,
    fewest: int,
    choices: np.ndarray,
    least: float,
    stage: np.ndarray,
    bodies: np.ndarray,
) -> int:
    """Write one item's stage and bodies; give their number, or minus it where there is no room."""
    count = draw_attributes(seed, item, fewest, choices, bodies)
    for k in range(count):
        shape_body(bodies[k])
    set_stage(seed, item, stage)
    return count if place(seed, item, least, stage, bodies[:count], count) else -count


@entry
def find(stage: np.ndarray, bodies: np.ndarray, mask: np.ndarray, boxes: np.ndarray) -> None:
    """Write whose each pixel is, and each body's box."""
    _, owner = nearest_depths(stage, bodies, bodies.shape[0], 2 * mask.shape[0])
    majority(owner, mask)
    frame(stage, bodies, bodies.shape[0], mask, boxes)


@entry
def paint(stage: np.ndarray, bodies: np.ndarray, image: np.ndarray) -> None:
    """Draw one picture, with 2 × 2 points a pixel."""
    size = image.shape[0]
    depth, owner = nearest_depths(stage, bodies, bodies.shape[0], 2 * size)
    eye, step = get(stage, EYE), 1.0 / size
    for row in range(size):
        for column in range(size):
            r, g, b = 0.0, 0.0, 0.0
            for corner in range(4):
                y, x = 2 * row + corner // 2, 2 * column + corner % 2
                to = ray(stage, (x + 0.5) * step - 1.0, 1.0 - (y + 0.5) * step)
                if owner[y, x] == 0:
                    there = along(eye, -eye[2] / to[2], to)
                    colour = shade_ground(stage, bodies, (there[0], there[1], 0.0), x, y)
                else:
                    there = along(eye, depth[y, x], to)
                    colour = shade_body(stage, bodies, int(owner[y, x]) - 1, there, x, y)
                r, g, b = r + curve(colour[0]), g + curve(colour[1]), b + curve(colour[2])
            image[row, column, 0] = byte(0.25 * r)
            image[row, column, 1] = byte(0.25 * g)
            image[row, column, 2] = byte(0.25 * b)
