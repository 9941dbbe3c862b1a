"""Scans in files: pictures, NumPy arrays, and volumes with where they lie; and labels written as either."""

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int, Shaped
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.base.files import write_bytes
from polymodal.data import image_files
from polymodal.data.formats import volumes
from polymodal.data.scan_scales import WORDS, FileRule, brightened, shares

Affine = Float64[np.ndarray, "4 4"]


@dataclass(frozen=True)
class Scan:
    """The numbers of one file as they stand in it."""

    path: Path | None
    """None of an array that is in no file."""
    values: Shaped[np.ndarray, "*grid"] = field(repr=False)
    """`h w` of a grey picture, `h w c` of one with channels, `d h w` of a volume, any of .npy."""
    affine: Affine | None = None
    """Of a volume."""

    @property
    def bare(self) -> bool:
        """Whether it is an array in the units of the dataset, as .npy has."""
        return self.path is None or self.path.suffix == ".npy"


def read_scan(path: Path | str) -> Scan:
    """The numbers of a picture, a volume or an array."""
    path = Path(path)
    if not path.is_file():
        raise PolymodalError(f"There is no scan at {path}.")
    if path.name.lower().endswith(volumes.ENDINGS):
        volume = volumes.read_volume(path)
        return Scan(path, np.ascontiguousarray(volume.values), volume.affine)
    try:
        if path.suffix == ".npy":
            return Scan(path, np.load(path, allow_pickle=False))
        with path.open("rb") as file:
            return Scan(path, image_files.numbers(file, path.stat().st_size))
    except (OSError, ValueError, PolymodalError) as error:
        raise PolymodalError(
            f"{path} cannot be read as a scan: {error} A scan is a picture, .npy, .mha, .nii or .nii.gz."
        ) from error


def numbers_of(scan: Scan, name: str, rule: FileRule) -> Shaped[np.ndarray, "*grid"]:
    """A modality's own numbers in a file: those of a picture's channel, of a volume, or an array's.

    Args:
        scan: of a file.
        name: the modality.
        rule: how the dataset's reader makes it.
    """
    return scan.values if scan.bare or scan.affine is not None else plane_of(scan, name, rule)


def scaled(
    numbers: Shaped[np.ndarray, "*grid"], scan: Scan, name: str, rule: FileRule, *, exact: bool
) -> Shaped[np.ndarray, "*grid"]:
    """These numbers as values of the dataset.

    Args:
        numbers: of all places of a scan.
        scan: whose they are; an array is in the dataset's units already.
        name: the modality.
        rule: how the dataset's reader makes it.
        exact: whether the scale matters; where each scan is standardised by itself it does not.
    """
    if scan.bare:
        return numbers
    if rule.scale == "shares" and numbers.dtype.kind == "u":
        return shares(numbers)
    if rule.scale == "brightest" and scan.affine is not None:
        return brightened(numbers)
    if rule.scale != "own" and exact:
        raise PolymodalError(
            f"{scan.path}: how its numbers ({numbers.dtype}) become values of {name} is not known, and "
            "with --standardise data it matters: these data were "
            f"{WORDS[rule.scale]}. Give an array, or .npy, in the units of the training data, or "
            "train with --standardise scan."
        )
    return numbers.astype(np.float32)


def plane_of(scan: Scan, name: str, rule: FileRule) -> Shaped[np.ndarray, "h w"]:
    """The modality's channel of a picture, or the one value of a grey one."""
    bands = scan.values
    if bands.ndim == 2:
        return bands
    if rule.channels > 1 and bands.shape[2] == rule.channels:
        return bands[..., rule.channel]
    colours = bands[..., :-1] if bands.shape[2] in (2, 4) else bands
    if not (colours == colours[..., :1]).all():
        expected = f" with {rule.channels} channels or" if rule.channels > 1 else ""
        raise PolymodalError(
            f"{scan.path} is a coloured picture with {bands.shape[2]} channels, but {name} has one "
            f"value a pixel. Give a picture{expected} in grey, a file a modality."
        )
    return colours[..., 0]


def write_labels(path: Path, labels: Int[np.ndarray, "*grid"], affine: Affine | None) -> None:
    """Labels as an array (.npy), as a grey picture, or as a volume that lies where the affine says."""
    small = labels.astype(np.uint8)
    if affine is not None:
        volumes.write_volume(path, small, affine)
        return
    content = io.BytesIO()
    if path.suffix == ".npy":
        np.save(content, small)
    else:
        Image.fromarray(small).save(content, "PNG")
    write_bytes(path, content.getvalue())
