"""A slice beside the same with what was found in it, in a colour for each class."""

import io
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8
from PIL import Image, ImageDraw

from polymodal.views.grounding_sheet import COLOURS
from polymodal.views.lettering import INK, PAPER, font

STRENGTH = 0.45
"""How much of a colour covers the slice."""

SIDE = 384
"""Pixels of the longer side of a slice, at least."""

GAP = 8
"""Pixels between both."""

FOOT = 32
"""Height of the legend below."""


def overlay(
    scan: Float[np.ndarray, "h w"],
    classes: Int[np.ndarray, "h w"],
    names: Sequence[str],
    pixel: tuple[float, float] = (1.0, 1.0),
) -> bytes:
    """A PNG: the slice, the slice under the colours of its classes, and whose colour is which.

    Args:
        scan: its values.
        classes: of each pixel, 0 for the background.
        names: of the classes but the background, in the order of their numbers.
        pixel: height and width of a pixel, in any unit.
    """
    plain = np.repeat(as_grey(scan)[..., None], 3, 2)
    both = [enlarged(own, pixel) for own in (plain, coloured(plain, classes))]
    width, height = both[0].size
    picture = Image.new("RGB", (2 * width + GAP, height + FOOT), PAPER)
    picture.paste(both[0], (0, 0))
    picture.paste(both[1], (width + GAP, 0))
    legend(ImageDraw.Draw(picture), height, names)
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def legend(pen: ImageDraw.ImageDraw, top: int, names: Sequence[str]) -> None:
    """A square of each class's colour with its name, beside each other."""
    left = float(GAP)
    for number, name in enumerate(names, 1):
        pen.rectangle((left, top + 9, left + 14, top + 23), fill=colour_of(number))
        pen.text((left + 20, top + 16), name, fill=INK, font=font(13), anchor="lm")
        left += 20 + font(13).getlength(name) + 2 * GAP


def colour_of(number: int) -> tuple[int, int, int]:
    """The colour of a class, the same in every picture."""
    return COLOURS[(number - 1) % len(COLOURS)]


def coloured(
    picture: UInt8[np.ndarray, "h w 3"], classes: Int[np.ndarray, "h w"]
) -> UInt8[np.ndarray, "h w 3"]:
    """A picture under the colours of its classes; 0 has none."""
    found = picture.astype(np.float32)
    for number in np.unique(classes[classes > 0]).tolist():
        own = classes == number
        colour = np.array(colour_of(number), np.float32)
        found[own] = (1 - STRENGTH) * found[own] + STRENGTH * colour
    return found.round().astype(np.uint8)


def as_grey(scan: Float[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w"]:
    """Values from the 1st to the 99th percentile as black to white."""
    low, high = np.percentile(scan, [1, 99])
    share = (scan - low) / max(float(high - low), 1e-6)
    return (255 * share.clip(0, 1)).round().astype(np.uint8)


def enlarged(picture: UInt8[np.ndarray, "h w 3"], pixel: tuple[float, float]) -> Image.Image:
    """A picture whose pixels have their true proportions, the longer side of `SIDE` at least."""
    least = min(pixel)
    high, wide = (side * own / least for side, own in zip(picture.shape[:2], pixel, strict=True))
    times = max(1, int(np.ceil(SIDE / max(high, wide))))
    size = round(times * wide), round(times * high)
    return Image.fromarray(picture).resize(size, Image.Resampling.NEAREST)


def fullest(labels: Int[np.ndarray, "d h w"]) -> int:
    """The plane with the most places of any class; the middle one where there is none."""
    counts = (labels > 0).sum((1, 2))
    return int(counts.argmax()) if counts.any() else len(labels) // 2
