"""Scans in files: grey pictures, NumPy arrays, and volumes in NIfTI with where they lie."""

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int
from PIL import Image, UnidentifiedImageError

from polymodal.base.errors import PolymodalError
from polymodal.base.files import write_bytes

NIFTI = (".nii", ".nii.gz")

Affine = Float64[np.ndarray, "4 4"]


def read_scan(path: Path | str) -> tuple[Float[np.ndarray, "*grid"], Affine | None]:
    """The values of a scan, `h w` of a picture or `d h w` of a volume, and the affine of a volume."""
    path = Path(path)
    if not path.is_file():
        raise PolymodalError(f"There is no scan at {path}.")
    if path.name.endswith(NIFTI):
        return read_nifti(path)
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False).astype(np.float32), None
        with Image.open(path) as image:
            bands = np.asarray(image, np.float32)
    except (OSError, ValueError, UnidentifiedImageError) as error:
        raise PolymodalError(
            f"{path} cannot be read as a scan ({error}). Give a grey picture, .npy or .nii.gz."
        ) from error
    if bands.ndim == 3:
        if bands.shape[2] in (2, 4):
            bands = bands[..., :-1]
        if not (bands == bands[..., :1]).all():
            raise PolymodalError(
                f"{path} is a coloured picture, but a scan has one value a pixel. Give the modalities "
                "as files of their own."
            )
        bands = bands[..., 0]
    return bands, None


def read_nifti(path: Path) -> tuple[Float[np.ndarray, "d h w"], Affine]:
    """A volume plane by plane, and where its voxels i, j, k (column, row, plane) are in mm."""
    nibabel = opened_nibabel()
    try:
        volume = nibabel.load(path)
        values = np.asarray(volume.dataobj, np.float32)
    except (OSError, ValueError, EOFError, zlib.error, gzip.BadGzipFile,
            nibabel.filebasedimages.ImageFileError) as error:  # fmt: skip
        raise PolymodalError(f"{path} cannot be read as NIfTI ({error}). Copy it again.") from error
    if values.ndim != 3:
        raise PolymodalError(
            f"{path} has {values.ndim} axes, but a volume has 3. Give one volume a file."
        )
    return np.ascontiguousarray(values.T), np.asarray(volume.affine, np.float64)


def write_labels(path: Path, labels: Int[np.ndarray, "*grid"], affine: Affine | None) -> None:
    """Labels as a grey picture, or as a volume that lies where the affine says."""
    small = labels.astype(np.uint8)
    if affine is None:
        content = io.BytesIO()
        Image.fromarray(small).save(content, "PNG")
        write_bytes(path, content.getvalue())
        return
    volume = opened_nibabel().Nifti1Image(small.T, affine)
    found: bytes = volume.to_bytes()
    write_bytes(path, gzip.compress(found, mtime=0) if path.suffix == ".gz" else found)


def opened_nibabel() -> Any:
    """nibabel, or an error that says how to get it."""
    try:
        import nibabel
        import nibabel.filebasedimages
    except ImportError as error:
        raise PolymodalError(
            "Volumes in NIfTI are read by nibabel, which is not installed. Install it with: "
            "pip install 'polymodal[medical]'"
        ) from error
    return nibabel
