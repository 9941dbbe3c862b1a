"""What is asked of the painter: what birds show, pictures with masks, and where parts are."""

import numpy as np

from polymodal.data.drawn.birds import bird_lighting, bird_streams, feathers, plumage, pose, scenery
from polymodal.data.drawn.birds.anatomy import add_bird
from polymodal.data.drawn.birds.bird_shapes import (
    BALL,
    BOTTOM,
    KIND,
    LEFT,
    MOST_BALLS,
    MOST_SHAPES,
    RIGHT,
    SHADOW,
    SHAPE,
    TOP,
    Picture,
)
from polymodal.data.drawn.birds.seeing import see
from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import entry, helper
from polymodal.data.drawn.kernel.screen import byte, curve

FAR = 48
"""The landscape, which is blurred, is painted on a grid of 48 × 48, whatever the image's size."""

FINE = 1.0 / 512.0
"""Whether a part is seen is judged at its very place, as in an image of 512 × 512."""


@helper
def compose(seed: int, item: int, codes: np.ndarray) -> tuple[Picture, int]:
    """All that is in the picture of one item, and how many of its shapes are far off."""
    picture = Picture(
        np.zeros((MOST_SHAPES, SHAPE)),
        np.zeros((MOST_BALLS, BALL)),
        np.zeros(2, np.int64),
        codes,
        np.empty((codes.size, 3)),
        np.zeros(pose.COLUMNS),
        np.zeros((len(plumage.PARTS), 2)),
        np.empty(bird_lighting.COLUMNS),
        bird_lighting.make_noise(seed, item),
        scenery.landscape(seed, item),
    )
    bird_lighting.set_light(seed, item, picture.light)
    pose.strike_pose(seed, item, codes[plumage.SIZE], picture.pose)
    feathers.wear_coat(seed, item, codes, picture.coat)
    scenery.add_landscape(seed, item, picture)
    far = picture.counts[0]
    scenery.add_perch(seed, item, picture)
    add_bird(picture)
    scenery.add_cover(seed, item, picture)
    return picture, far


@helper
def lay(picture: Picture, shape: np.ndarray, canvas: np.ndarray, mask: np.ndarray) -> None:
    """Paint a shape over what is there; a shadow falls on the bird alone."""
    size = mask.shape[0]
    pixel, shadow = 1.0 / size, shape[KIND] == SHADOW
    for row in range(max(int(shape[TOP] * size) - 1, 0), min(int(shape[BOTTOM] * size) + 2, size)):
        for column in range(
            max(int(shape[LEFT] * size) - 1, 0), min(int(shape[RIGHT] * size) + 2, size)
        ):
            if shadow and mask[row, column] == 0:
                continue
            cover, colour, part = see(
                picture, shape, (column + 0.5) * pixel, (row + 0.5) * pixel, pixel
            )
            if cover > 0.0:
                for channel in range(3):
                    canvas[row, column, channel] += cover * (
                        colour[channel] - canvas[row, column, channel]
                    )
            if cover >= 0.5:
                mask[row, column] = part


@helper
def enlarge(small: np.ndarray, canvas: np.ndarray) -> None:
    """Paint a smaller picture over the whole canvas, smoothly."""
    side, size = small.shape[0], canvas.shape[0]
    for row in range(size):
        y = min(max((row + 0.5) * side / size - 0.5, 0.0), side - 1.0)
        top = min(int(y), side - 2)
        y -= top
        for column in range(size):
            x = min(max((column + 0.5) * side / size - 0.5, 0.0), side - 1.0)
            left = min(int(x), side - 2)
            x -= left
            for channel in range(3):
                a, b = small[top, left, channel], small[top, left + 1, channel]
                c, d = small[top + 1, left, channel], small[top + 1, left + 1, channel]
                a, c = a + x * (b - a), c + x * (d - c)
                canvas[row, column, channel] = a + y * (c - a)


@helper
def paint_one(
    picture: Picture, far: int, small: np.ndarray, canvas: np.ndarray, mask: np.ndarray
) -> None:
    """Paint a picture onto a canvas: the first `far` shapes small, the others over them."""
    nowhere = np.zeros((FAR, FAR), np.uint8)
    for row in range(FAR):
        for column in range(FAR):
            r, g, b = scenery.backdrop(picture, (column + 0.5) / FAR, (row + 0.5) / FAR)
            small[row, column, 0], small[row, column, 1], small[row, column, 2] = r, g, b
    for k in range(far):
        lay(picture, picture.shapes[k], small, nowhere)
    enlarge(small, canvas)
    for row in range(mask.shape[0]):
        for column in range(mask.shape[0]):
            mask[row, column] = 0
    for k in range(far, picture.counts[0]):
        lay(picture, picture.shapes[k], canvas, mask)


@entry
def paint(
    seeds: np.ndarray, items: np.ndarray, codes: np.ndarray, images: np.ndarray, masks: np.ndarray
) -> None:
    """Paint some items, and write which part each of their pixels shows."""
    size = images.shape[1]
    small, canvas = np.empty((FAR, FAR, 3)), np.empty((size, size, 3))
    for i in range(items.size):
        picture, far = compose(seeds[i], items[i], codes[i])
        paint_one(picture, far, small, canvas, masks[i])
        for row in range(size):
            for column in range(size):
                for channel in range(3):
                    images[i, row, column, channel] = byte(curve(canvas[row, column, channel]))


@helper
def part_at(picture: Picture, x: float, y: float) -> int:
    """The part that is seen at a point: that of the nearest shape which covers it."""
    for k in range(picture.counts[0] - 1, -1, -1):
        shape = picture.shapes[k]
        if shape[LEFT] <= x <= shape[RIGHT] and shape[TOP] <= y <= shape[BOTTOM]:
            cover, _, part = see(picture, shape, x, y, FINE)
            if cover >= 0.5:
                return part
    return 0


@entry
def find_parts(seeds: np.ndarray, items: np.ndarray, codes: np.ndarray, parts: np.ndarray) -> None:
    """Write each part's x, y and 1 where it is seen, into zeros."""
    for i in range(items.size):
        picture, _ = compose(seeds[i], items[i], codes[i])
        for k in range(parts.shape[1]):
            x, y = picture.points[k, 0], picture.points[k, 1]
            if 0.0 <= x < 1.0 and 0.0 <= y < 1.0 and part_at(picture, x, y) == k + 1:
                parts[i, k, 0], parts[i, k, 1], parts[i, k, 2] = x, y, 1.0


@entry
def draw_codes(
    seeds: np.ndarray,
    items: np.ndarray,
    usual: np.ndarray,
    rarer: np.ndarray,
    share: np.ndarray,
    codes: np.ndarray,
) -> None:
    """Write the value of each group that some birds show: what is usual in their class, in a share
    of them, else what is rarer; the three have a row a bird."""
    for i in range(items.size):
        u = randomness.uniforms(seeds[i], items[i], bird_streams.CODES, codes.shape[1])
        for group in range(codes.shape[1]):
            common = u[group] < share[i, group]
            codes[i, group] = usual[i, group] if common else rarer[i, group]
