"""Volumes with their affine: NIfTI by nibabel, MetaImage by our own reader.

Arrays are planes × rows × columns. An affine says where voxel i, j, k (column, row, plane) is, in mm to
the patient's right, front and top: it is the file's own, whose axes have that order.
"""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from jaxtyping import Float64, Shaped

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.formats import metaimage
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.metaimage import BadMetaImageError

ENDINGS = (".nii", ".nii.gz", ".mha")

LARGEST = 2**31
"""Bytes of the largest volume that is read."""

HEADERS = 2**24
"""Bytes that a NIfTI header may have with all its extensions."""


class BadVolumeError(PolymodalError):
    """A file that is no volume, in words."""


@dataclass(frozen=True)
class Volume:
    """Voxels and where they are."""

    values: Shaped[np.ndarray, "d h w"] = field(repr=False)
    affine: Float64[np.ndarray, "4 4"]


@dataclass(frozen=True)
class Extent:
    """How large a volume is and where, by its header alone."""

    shape: tuple[int, int, int]
    """Planes, rows, columns."""
    affine: Float64[np.ndarray, "4 4"]
    size: int
    """Bytes of its voxels."""


def nibabel() -> Any:
    """The package that reads NIfTI."""
    try:
        import nibabel
    except ImportError as error:
        raise PolymodalError(
            "NIfTI files need nibabel, which is not installed. Install it with: "
            "pip install 'polymodal[medical]'"
        ) from error
    return nibabel


def look(source: Source, name: str) -> Extent:
    """What a file's header says."""
    if name.lower().endswith(".mha"):
        with _opened(source, name) as file:
            header = metaimage.read_header(file)
        size = int(np.prod(header.shape)) * header.dtype.itemsize
        found = Extent(header.shape, header.affine, size)
    else:
        kind = nibabel().Nifti1Header
        with _opened(source, name) as file:
            first = io.BytesIO(file.read(348) + bytes(4))  # without extensions
            found = _told(kind.from_fileobj(first, check=False))
    if found.size > LARGEST:
        raise BadVolumeError(
            f"it has {found.size:,} bytes of voxels, but at most {LARGEST:,} are read. Is it the right file?"
        )
    if not np.isfinite(found.affine).all():
        raise BadVolumeError("its affine is not finite. Write the file again with one.")
    return found


def read(source: Source, name: str) -> Volume:
    """A whole file: its voxels, scaled as its header says, and its affine."""
    extent = look(source, name)
    if name.lower().endswith(".mha"):
        with _opened(source, name) as file:
            values = metaimage.read_values(file, metaimage.read_header(file))
    else:
        kind = nibabel().Nifti1Image
        with _opened(source, name) as file:
            image = kind.from_bytes(file.read(extent.size + HEADERS))
            values = np.asanyarray(image.dataobj)
        values = values.reshape(extent.shape[::-1]).transpose(2, 1, 0)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise BadVolumeError("it has voxels that are not finite. Write it again without them.")
    return Volume(values, extent.affine)


def read_volume(path: Path | str) -> Volume:
    """A volume by its path.

    Args:
        path: a .nii, .nii.gz or .mha file.
    """
    path = Path(path)
    if not path.is_file():
        raise PolymodalError(f"{path}: there is no such file. Give a {', '.join(ENDINGS)} file.")
    if not path.name.lower().endswith(ENDINGS):
        raise PolymodalError(f"{path}: volumes are read from {', '.join(ENDINGS)} files.")
    try:
        return read(open_source(path.parent), path.name)
    except BadVolumeError as error:
        raise PolymodalError(f"{path}: {error}") from error


def write_volume(
    path: Path | str, values: Shaped[np.ndarray, "d h w"], affine: Float64[np.ndarray, "4 4"]
) -> None:
    """Write a NIfTI file, whole or not at all.

    Args:
        path: it ends with .nii or .nii.gz.
        values: planes × rows × columns; whole numbers stay so.
        affine: of the file whose voxels these are.
    """
    if not str(path).endswith((".nii", ".nii.gz")):
        raise PolymodalError(f"{path}: volumes are written as .nii or .nii.gz. Give such a name.")
    kinds = {
        "b": np.uint8,
        "u": np.uint16 if values.dtype.itemsize > 1 else np.uint8,
        "i": np.int32,
    }
    kept = values.transpose(2, 1, 0).astype(kinds.get(values.dtype.kind, np.float32))
    image = nibabel().Nifti1Image(kept, affine)
    image.header.set_xyzt_units("mm")
    content: bytes = image.to_bytes()
    packed = gzip.compress(content, 6, mtime=0) if str(path).endswith(".gz") else content
    files.write_bytes(Path(path), packed)


@contextmanager
def _opened(source: Source, name: str) -> Iterator[IO[bytes]]:
    """A file, unpacked where it ends with .gz; whatever is wrong with it becomes one error."""
    try:
        with source.open(name) as raw:
            if name.lower().endswith(".gz"):
                with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield cast(IO[bytes], raw)
    except BadMetaImageError as error:
        raise BadVolumeError(f"this is no sound MetaImage: {error}. Copy it again.") from error
    except PolymodalError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise BadVolumeError(f"the file is cut off or damaged ({error}). Copy it again.") from error
    except Exception as error:  # nibabel's own errors have no common base
        if type(error).__module__.partition(".")[0] != "nibabel":
            raise
        raise BadVolumeError(f"this is no sound NIfTI file ({error}). Copy it again.") from error


def _told(header: Any) -> Extent:
    """What a NIfTI header says of a volume."""
    if int(header["sizeof_hdr"]) != 348 or bytes(header["magic"])[:4] not in (b"n+1", b"n+1\0"):
        raise BadVolumeError("this is no NIfTI file, whatever its name says. Copy it again.")
    shape = _three(tuple(map(int, header.get_data_shape())))
    try:
        depth = int(header.get_data_dtype().itemsize)
    except KeyError as error:
        raise BadVolumeError(f"its voxels are of a type that is not known ({error}).") from error
    affine = np.asarray(header.get_best_affine(), np.float64)
    return Extent(shape, affine, int(np.prod(shape)) * depth)


def _three(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The shape of a volume as planes, rows, columns; further axes must be of one."""
    if len(shape) < 3 or any(size != 1 for size in shape[3:]) or min(shape) < 1:
        told = "×".join(map(str, shape))
        raise BadVolumeError(
            f"it has the shape {told or 'of nothing'}, but one volume is expected."
        )
    return shape[2], shape[1], shape[0]
