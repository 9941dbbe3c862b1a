"""Crops of pictures, cut in threads on the host: one task a picture."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from polymodal.data.image_files import threads
from polymodal.data.records import Images


def crops(
    pictures: Images, boxes: Iterable[Float32[np.ndarray, "_ 4"]], size: int, context: float = 0.0
) -> UInt8[np.ndarray, "m size size 3"]:
    """The boxes of each picture, one after another, resized to size × size.

    Args:
        pictures: uint8 b h w 3.
        boxes: those of each picture, in pixels.
        size: pixels of a side of a crop.
        context: how far a crop goes beyond its box on each side, in sides of the box.
    """

    def cut(picture: np.ndarray, some: np.ndarray) -> np.ndarray:
        height, width, _ = picture.shape
        wide = grown(some, context, (width, height))
        image = Image.fromarray(picture)
        found = [image.resize((size, size), Image.Resampling.BILINEAR, box=tuple(b)) for b in wide]
        return np.stack([np.asarray(one) for one in found]) if found else empty

    empty = np.empty((0, size, size, 3), np.uint8)
    with ThreadPoolExecutor(threads(len(pictures))) as pool:
        return np.concatenate([empty, *pool.map(cut, pictures, boxes)])


def grown(
    boxes: Float32[np.ndarray, "k 4"], context: float, sides: tuple[int, int] = (1, 1)
) -> Float32[np.ndarray, "k 4"]:
    """Boxes that go further by a share of their sides, but not beyond the picture.

    >>> grown(np.array([[2, 0, 4, 4]], np.float32), 0.5, (9, 5)).tolist()
    [[1.0, 0.0, 5.0, 5.0]]
    """
    size = boxes[:, 2:] - boxes[:, :2]
    margin = np.concatenate([-size, size], 1) * np.float32(context)
    return np.clip(boxes + margin, 0, np.array([*sides, *sides], np.float32))
