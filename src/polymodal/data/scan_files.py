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

    path: Path
    values: Shaped[np.ndarray, "*grid"] = field(repr=False)
    """`h w` of a grey picture, `h w c` of one with channels, `d h w` of a volume, any of .npy."""
    affine: Affine | None = None
    """Of a volume."""


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


def values_of(scan: Scan, name: str, rule: FileRule, *, exact: bool) -> Shaped[np.ndarray, "*grid"]:
    """A file's values as the dataset has them.

    Args:
        scan: of a picture or a volume; an .npy is taken as it is, as an array in the dataset's units.
        name: the modality.
        rule: how the dataset's reader makes it.
        exact: whether the scale matters; where each scan is standardised by itself it does not.
    """
    if scan.path.suffix == ".npy":
        return scan.values
    grid = scan.values if scan.affine is not None else plane_of(scan, name, rule)
    kind = grid.dtype.kind
    if rule.scale == "shares" and kind == "u":
        return shares(grid)
    if rule.scale == "brightest" and scan.affine is not None:
        return brightened(grid)
    if rule.scale != "own" and exact:
        raise PolymodalError(
            f"{scan.path}: how its numbers ({grid.dtype}) become values of {name} is not known, and "
            "with --standardise data it matters: these data were "
            f"{WORDS[rule.scale]}. Give an array, or .npy, in the units of the training data, or "
            "train with --standardise scan."
        )
    return grid.astype(np.float32)


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
    """Labels as a grey picture, or as a volume that lies where the affine says."""
    small = labels.astype(np.uint8)
    if affine is not None:
        volumes.write_volume(path, small, affine)
        return
    content = io.BytesIO()
    Image.fromarray(small).save(content, "PNG")
    write_bytes(path, content.getvalue())
