"""Pictures as a user gives them: paths, PIL images, arrays, or a mix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files
from polymodal.data.records import Images


def as_pictures(given: Sequence[Any], size: int) -> Images:
    """Any mix of pictures as one batch of size × size, by the same rule that reads a folder."""
    if isinstance(given, np.ndarray) and given.ndim != 4:
        raise PolymodalError(
            "Images come as a list, or as one array of shape (count, height, width, 3), not as one of "
            f"{given.shape}. Give a single image in a list."
        )
    found = [as_picture(one, size) for one in given]
    return np.stack(found) if found else np.empty((0, size, size, 3), np.uint8)


def as_picture(given: Any, size: int) -> np.ndarray:
    """One picture: a path, a PIL image, or an array `h w 3` of uint8."""
    if isinstance(given, str | Path):
        path = Path(given)
        if path.is_dir():
            raise PolymodalError(f"{path} is a folder. Give the pictures in it: {path}/*.png")
        if not path.is_file():
            raise PolymodalError(f"There is no image at {path}.")
        try:
            with path.open("rb") as file:
                return image_files.read(file, path.stat().st_size, size)
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
        return image_files.square(given, size)
    raise PolymodalError(
        f"An image is a path, a PIL image or a uint8 array, not {type(given).__name__}."
    )
