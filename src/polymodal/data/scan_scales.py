"""How the numbers of a scan's file become the values of a dataset, and its size that of the dataset's."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32, Shaped

BRIGHT = 0.995
"""Of the voxels that are not 0, this share is darker than what is shown as 1."""

Scale = Literal["shares", "brightest", "own", "unknown"]
"""Shares of the largest number of the file's type; of nearly the brightest voxel of the volume; as in the
file; or not known of one file alone, as of drawn scans and of planes of a scaled volume."""

Fit = Literal["resized", "kept", "free"]
"""Planes are brought to one size; or voxels are as large as in the files; or all had one size already."""


@dataclass(frozen=True, kw_only=True)
class FileRule:
    """How a reader makes a modality of files."""

    scale: Scale = "unknown"
    channel: int = 0
    """Which channel of a picture is the modality."""
    channels: int = 1
    """How many channels its pictures have."""
    fit: Fit = "free"
    """What becomes of files of another size."""


WORDS = {
    "shares": "shares of the largest number of files of 8 or 16 bits",
    "brightest": "volumes, each divided by nearly its brightest voxel",
    "unknown": "not made of one such file each",
}
"""What a scale asks of files."""


def shares(values: Shaped[np.ndarray, "*grid"]) -> Float32[np.ndarray, "*grid"]:
    """Whole numbers as shares of the largest of their type."""
    found: np.ndarray = values / np.float32(np.iinfo(values.dtype).max)
    return found


def brightened(values: Shaped[np.ndarray, "d h w"]) -> Float32[np.ndarray, "d h w"]:
    """A volume divided by nearly its brightest voxel, so that 0 stays 0."""
    found = values.astype(np.float32)
    lit = found[found != 0]
    most = float(np.quantile(lit, BRIGHT)) if lit.size else 1.0
    result: np.ndarray = found / np.float32(most if most > 0 else 1.0)
    return result
