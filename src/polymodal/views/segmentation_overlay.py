"""A slice beside the same with what was found in it, in a colour for each class."""

import io

import numpy as np
from jaxtyping import Float, Int, UInt8
from PIL import Image

from polymodal.views.grounding_sheet import COLOURS

STRENGTH = 0.45
"""How much of a colour covers the slice."""

SIDE = 384
"""Pixels of the longer side of a slice, at least."""

GAP = 8
"""Pixels between both."""


def overlay(scan: Float[np.ndarray, "h w"], labels: Int[np.ndarray, "h w"]) -> bytes:
    """A PNG: the slice, and the slice under the colours of its labels."""
    grey = as_grey(scan)
    plain = np.repeat(grey[..., None], 3, 2)
    times = max(1, -(-SIDE // max(grey.shape)))
    both = [enlarged(own, times) for own in (plain, coloured(plain, labels))]
    gap = np.full((both[0].shape[0], GAP, 3), 255, np.uint8)
    content = io.BytesIO()
    Image.fromarray(np.concatenate([both[0], gap, both[1]], 1)).save(content, "PNG")
    return content.getvalue()


def coloured(
    picture: UInt8[np.ndarray, "h w 3"], labels: Int[np.ndarray, "h w"]
) -> UInt8[np.ndarray, "h w 3"]:
    """A picture under the colours of its labels; 0 has none."""
    found = picture.astype(np.float32)
    for place, label in enumerate(label for label in np.unique(labels) if label):
        own = labels == label
        colour = np.array(COLOURS[place % len(COLOURS)], np.float32)
        found[own] = (1 - STRENGTH) * found[own] + STRENGTH * colour
    return found.round().astype(np.uint8)


def as_grey(scan: Float[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w"]:
    """Values from the 1st to the 99th percentile as black to white."""
    low, high = np.percentile(scan, [1, 99])
    share = (scan - low) / max(float(high - low), 1e-6)
    return (255 * share.clip(0, 1)).round().astype(np.uint8)


def enlarged(picture: UInt8[np.ndarray, "h w 3"], times: int) -> UInt8[np.ndarray, "k l 3"]:
    """Each pixel as a square of so many."""
    return picture.repeat(times, 0).repeat(times, 1)


def fullest(labels: Int[np.ndarray, "d h w"]) -> int:
    """The plane with the most places of any class; the middle one where there is none."""
    counts = (labels > 0).sum((1, 2))
    return int(counts.argmax()) if counts.any() else len(labels) // 2
