"""Pictures as a user gives them: paths, PIL images, arrays, or a mix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files
from polymodal.data.image_files import SQUARE, Framing
from polymodal.data.records import Images


def as_pictures(given: Sequence[Any], size: int, framing: Framing = SQUARE) -> Images:
    """Any mix of pictures as one batch of size × size, by the same rule that reads a folder; by that of
    datasets with boxes where the framing is `image_files.WHOLE`."""
    found = [as_picture(one, size, framing) for one in given]
    return np.stack(found) if found else np.empty((0, size, size, 3), np.uint8)


def as_picture(given: Any, size: int, framing: Framing = SQUARE) -> np.ndarray:
    """One picture: a path, a PIL image, or an array `h w 3` of uint8."""
    if isinstance(given, str | Path):
        path = Path(given)
        if path.is_dir():
            raise PolymodalError(f"{path} is a folder. Give the pictures in it: {path}/*.png")
        if not path.is_file():
            raise PolymodalError(f"There is no image at {path}.")
        try:
            with path.open("rb") as file:
                return image_files.read(file, path.stat().st_size, size, framing)
        except image_files.BadPictureError as error:
            raise PolymodalError(f"{path}: {error}") from error
    if isinstance(given, np.ndarray):
        if given.dtype != np.uint8 or given.ndim != 3 or given.shape[2] != 3:
            raise PolymodalError(
                f"An image array must be uint8 of shape (height, width, 3), not {given.dtype} of "
                f"{given.shape}."
            )
        given = Image.fromarray(given)
    if isinstance(given, Image.Image):
        return framing.fit(given, size)
    raise PolymodalError(
        f"An image is a path, a PIL image or a uint8 array, not {type(given).__name__}."
    )
