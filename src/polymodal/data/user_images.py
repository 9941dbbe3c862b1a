"""Pictures as a user gives them: paths, PIL images, arrays, or a mix."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files
from polymodal.data.image_files import SQUARE, Framing
from polymodal.data.records import Images


def as_pictures(given: Sequence[Any], size: int, framing: Framing = SQUARE) -> Images:
    """Any mix of pictures as one batch of size × size, by the same rule that reads a folder; by that of
    datasets with boxes where the framing is `image_files.WHOLE`."""
    if isinstance(given, np.ndarray) and given.ndim != 4:
        raise PolymodalError(
            "Images come as a list, or as one array of shape (count, height, width, 3), not as one of "
            f"{given.shape}. Give a single image in a list."
        )
    pictures = [as_picture(one, size, framing) for one in given]
    return np.stack(pictures) if pictures else np.empty((0, size, size, 3), np.uint8)


def as_picture(given: Any, size: int, framing: Framing = SQUARE) -> np.ndarray:
    """One picture: a path, a PIL image, or an array `h w 3` of uint8."""
    return framing.fit(opened(given), size)


def opened(given: Any) -> Image.Image:
    """One picture as it is to be seen, in its own size."""
    if isinstance(given, str | Path):
        path = Path(given)
        if path.is_dir():
            raise PolymodalError(f"{path} is a folder. Give the pictures in it: {path}/*.png")
        if not path.is_file():
            raise PolymodalError(f"There is no image at {path}.")
        try:
            with path.open("rb") as file:
                return image_files.decode(file, path.stat().st_size)
        except image_files.BadPictureError as error:
            raise PolymodalError(f"{path}: {error}") from error
    if isinstance(given, np.ndarray):
        if given.dtype != np.uint8 or given.ndim != 3 or given.shape[2] != 3 or not given.size:
            raise PolymodalError(
                "An image array must be uint8 of shape (height, width, 3) with one pixel at least, "
                f"not {given.dtype} of {given.shape}."
            )
        given = Image.fromarray(given)
    if isinstance(given, Image.Image):
        if 0 in given.size:
            raise PolymodalError(f"An image needs one pixel at least, but has {given.size}.")
        return image_files.upright(given)
    raise PolymodalError(
        f"An image is a path, a PIL image or a uint8 array, not {type(given).__name__}."
    )


@dataclass(frozen=True)
class Framed:
    """A picture as a dataset of some framing has it, and as it was given."""

    pixels: UInt8[np.ndarray, "size size 3"]
    whole: UInt8[np.ndarray, "h w 3"]
    window: tuple[float, float, float, float]
    """What the square shows: x0, y0, x1, y1 in pixels of the whole."""

    def outside(self, boxes: Float32[np.ndarray, "r 4"]) -> Float32[np.ndarray, "r 4"]:
        """Boxes of the square in pixels of the whole."""
        x0, y0, x1, y1 = self.window
        size, (height, width) = len(self.pixels), self.whole.shape[:2]
        scale = np.array([x1 - x0, y1 - y0, x1 - x0, y1 - y0], np.float32) / size
        placed = boxes * scale + np.array([x0, y0, x0, y0], np.float32)
        return placed.clip(0, np.array([width, height, width, height], np.float32))

    def inside(self, boxes: Float32[np.ndarray, "r 4"]) -> Float32[np.ndarray, "r 4"]:
        """Boxes of the whole in pixels of the square."""
        x0, y0, x1, y1 = self.window
        size = len(self.pixels)
        scale = size / np.array([x1 - x0, y1 - y0, x1 - x0, y1 - y0], np.float32)
        return ((boxes - np.array([x0, y0, x0, y0], np.float32)) * scale).clip(0, size)


def framed(given: Any, size: int, framing: Framing) -> Framed:
    """One picture in a framing."""
    image = opened(given)
    window = framing.window(*image.size, size)
    return Framed(framing.fit(image, size), np.asarray(image), window)
