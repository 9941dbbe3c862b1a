"""Image files opened safely: size is judged before anything is decoded, every mode becomes RGB."""

import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedIOBase
from typing import IO, cast

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from polymodal.base.errors import PolymodalError

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""Formats that are opened; others have decoders that start programs or are seldom tried."""

LARGEST_FILE = 256 * 2**20
"""Bytes of the largest image file that is read."""

LARGEST_SIDE = 4096
"""Pixels of the largest side that images are resized to."""

DECODED = "upright by EXIF; alpha over white; RGB"
RULE = f"{DECODED}; centre square of the shorter side; bicubic"
"""How a file becomes pixels: part of every result's protocol."""

WHOLE_RULE = f"{DECODED}; the whole picture, gray bars beside its shorter side; bicubic"
"""The same where nothing may be cropped."""

SQUASHED_RULE = f"{DECODED}; the whole picture, stretched to a square; bicubic"
"""The same where all of a square must be picture, as layouts have it."""

BAR = 128
"""The gray of the bars."""


Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""


class BadPictureError(PolymodalError):
    """An image file that cannot be used; `kind` says in two words why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def check_size(size: int) -> None:
    """Refuse a side that images cannot be resized to, before any is read."""
    if not 1 <= size <= LARGEST_SIDE:
        raise PolymodalError(
            f"The image size must be at least 1 pixel and at most {LARGEST_SIDE}, but is {size}."
        )


def check_header(file: BufferedIOBase, length: int) -> None:
    """Judge an image by its length and header alone."""
    _open(file, length)


def verify(file: BufferedIOBase, length: int) -> None:
    """Judge an image by decoding all of it."""
    decode(file, length)


def decode(file: BufferedIOBase, length: int) -> Image.Image:
    """An image as it is to be seen, in its own size."""
    return upright(_open(file, length))


def size_of(file: BufferedIOBase, length: int) -> tuple[int, int]:
    """An image's width and height as it will be seen, by its header alone."""
    image = _open(file, length)
    if image.format == "TIFF":  # which Pillow turns by itself
        return image.size
    try:
        exif = Image.Image.getexif(image)  # a PNG's own would decode all of it
    except _DAMAGE as error:
        raise _damaged(error) from error
    aside = exif.get(ExifTags.Base.Orientation, 1) in (5, 6, 7, 8)
    return (image.height, image.width) if aside else image.size


def numbers(file: BufferedIOBase, length: int) -> Shaped[np.ndarray, "h w ..."]:
    """An image file's own numbers, one or several a pixel: no mode, orientation or palette is applied."""
    image = _open(file, length)
    try:
        image.load()
    except _DAMAGE as error:
        raise _damaged(error) from error
    if image.mode in ("I", "F"):
        raise BadPictureError(
            "not an image", "it has 32 bits a number. Save the image with 8 or 16 bits a channel."
        )
    found = np.asarray(image)
    return found.astype(np.uint8) if found.dtype == np.bool_ else found


def square(image: Image.Image, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """The centre square of an image, size × size, by `RULE`.

    Resizing the shorter side to `size` and then cropping the centre gives the same square; taking
    the square first keeps a very long image from growing before it is cropped.
    """
    image = upright(image)
    box = centre_square(*image.size, size)
    return np.asarray(image.resize((size, size), Image.Resampling.BICUBIC, box=box))


def centre_square(width: int, height: int, size: int) -> Box:
    """What `square` shows of an image."""
    side = min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    return left, top, left + side, top + side


def letterbox(image: Image.Image, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """The whole of an image in a square, size × size, by `WHOLE_RULE`."""
    image = upright(image)
    x0, y0, x1, y1 = place_in_square(*image.size, size)
    square = np.full((size, size, 3), BAR, np.uint8)
    scaled = image.resize((x1 - x0, y1 - y0), Image.Resampling.BICUBIC)
    square[y0:y1, x0:x1] = np.asarray(scaled)
    return square


def place_in_square(width: int, height: int, size: int) -> tuple[int, int, int, int]:
    """Where `letterbox` puts an image: x0, y0, x1, y1 in pixels of the square.

    >>> place_in_square(500, 375, 256), place_in_square(1, 9, 4)
    ((0, 32, 256, 224), (1, 0, 2, 4))
    """
    longer = max(width, height)
    wide, high = (max(round(side * size / longer), 1) for side in (width, height))
    left, top = (size - wide) // 2, (size - high) // 2
    return left, top, left + wide, top + high


def whole_square(width: int, height: int, size: int) -> Box:
    """What `letterbox` shows: all of an image, and beside it what would be beyond its edges."""
    x0, y0, x1, y1 = place_in_square(width, height, size)
    across, down = width / (x1 - x0), height / (y1 - y0)
    return -x0 * across, -y0 * down, (size - x0) * across, (size - y0) * down


def squash(image: Image.Image, size: int) -> UInt8[np.ndarray, "size size 3"]:
    """The whole of an image, stretched to size × size, by `SQUASHED_RULE`."""
    return np.asarray(upright(image).resize((size, size), Image.Resampling.BICUBIC))


def stretched_square(width: int, height: int, size: int) -> Box:
    """What `squash` shows: all of an image."""
    return 0, 0, width, height


@dataclass(frozen=True)
class Framing:
    """How pictures of any shape become squares."""

    rule: str
    fit: Callable[[Image.Image, int], UInt8[np.ndarray, "size size 3"]]
    window: Callable[[int, int, int], Box]
    """What a square of a size shows of a picture of a width and height, in the picture's pixels."""


SQUARE = Framing(RULE, square, centre_square)
WHOLE = Framing(WHOLE_RULE, letterbox, whole_square)
SQUASHED = Framing(SQUASHED_RULE, squash, stretched_square)


def read(
    file: BufferedIOBase, length: int, size: int, framing: Framing = SQUARE
) -> UInt8[np.ndarray, "size size 3"]:
    """Decode an image file and give its pixels by the framing's rule."""
    return framing.fit(_open(file, length), size)


def _open(file: BufferedIOBase, length: int) -> Image.Image:
    if length == 0:
        raise BadPictureError("empty image", "the image file has 0 bytes. Copy it again.")
    if length > LARGEST_FILE:
        raise _bomb(f"{length / 2**20:.0f} MiB in one file")
    try:
        image = Image.open(cast(IO[bytes], file), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _bomb(str(error).split(",")[0]) from error
    except UnidentifiedImageError as error:
        raise BadPictureError(
            "not an image",
            f"this is no image, or one of another format than {', '.join(FORMATS)}. "
            "Save it as JPEG or PNG.",
        ) from error
    except _DAMAGE as error:
        raise _damaged(error) from error
    most = Image.MAX_IMAGE_PIXELS
    if most is not None and image.width * image.height > most:
        raise _bomb(f"{image.width}×{image.height} pixels")
    return image


def upright(image: Image.Image) -> Image.Image:
    """Decode, turn as the camera was held, and make RGB of whatever mode."""
    try:
        image.load()
        image = ImageOps.exif_transpose(image)
    except _DAMAGE as error:
        raise _damaged(error) from error
    if image.mode.startswith("I;16"):  # Pillow would clip 16 bits to 8, not scale them
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise BadPictureError(
            "not an image",
            "pixels of 32 bits have no fixed white. Save the image with 8 or 16 bits a channel.",
        )
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")


_DAMAGE = (  # what Pillow and zipfile raise on damaged files
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError),
    *(struct.error, zlib.error, zipfile.BadZipFile),
)


def _damaged(error: Exception) -> BadPictureError:
    return BadPictureError(
        "truncated image", f"the image is cut off or damaged ({error}). Copy it again."
    )


def _bomb(reason: str) -> BadPictureError:
    return BadPictureError(
        "image bomb",
        f"the image would unpack to too much ({reason.rstrip('.')}; at most "
        f"{Image.MAX_IMAGE_PIXELS or 0:,} pixels and {LARGEST_FILE // 2**20} MiB are opened). "
        "Make it smaller; if you trust it, raise PIL.Image.MAX_IMAGE_PIXELS.",
    )


def threads(tasks: int) -> int:
    """How many images are decoded at once."""
    return max(1, min(tasks, os.cpu_count() or 1, 16))
