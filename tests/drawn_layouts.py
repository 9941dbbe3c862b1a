"""Small pictures of coloured squares and crosses with their layouts, for tests."""

import numpy as np

from polymodal.data.columns import Each, Stored
from polymodal.data.records import Dataset, Region

COLOURS = {"red": (220, 40, 40), "green": (40, 200, 60)}
SHAPES = ("square", "cross")
CLASSES = sorted(f"{colour} {shape}" for colour in COLOURS for shape in SHAPES)


def drawn_layouts(count: int, seed: int, size: int = 32) -> Dataset:
    """Each picture has one to three objects, each in a quarter of its own."""
    rng = np.random.default_rng(seed)
    pictures = np.full((count, size, size, 3), 100, np.uint8)
    layouts = []
    for picture in pictures:
        quarters = rng.permutation(4)[: rng.integers(1, 4)]
        layouts.append(tuple(draw(picture, int(quarter), rng) for quarter in quarters))
    columns = {"image": Stored(pictures), "layout": Each.of(layouts)}
    return Dataset(columns, ids=[f"{seed}-{i}" for i in range(count)])


def draw(picture: np.ndarray, quarter: int, rng: np.random.Generator) -> Region:
    """An object somewhere in a quarter of a picture."""
    half = len(picture) // 2
    side = int(rng.integers(half // 2, half - 1))
    x, y = (half * place + int(rng.integers(half - side)) for place in (quarter % 2, quarter // 2))
    colour, shape = rng.choice(list(COLOURS)), rng.choice(SHAPES)
    part = picture[y : y + side, x : x + side]
    if shape == "square":
        part[:] = COLOURS[colour]
    else:
        third = side // 3
        part[third : side - third] = part[:, third : side - third] = COLOURS[colour]
    return Region(f"{colour} {shape}", (float(x), float(y), float(x + side), float(y + side)))
