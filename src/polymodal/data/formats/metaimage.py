"""MetaImage files (.mha), in which BRATS-2015 comes: a header of text, then the voxels."""

import zlib
from dataclasses import dataclass
from typing import IO

import numpy as np
from jaxtyping import Float64, Shaped

TYPES = {
    "MET_UCHAR": "u1",
    "MET_CHAR": "i1",
    "MET_USHORT": "u2",
    "MET_SHORT": "i2",
    "MET_UINT": "u4",
    "MET_INT": "i4",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}

LONGEST = 4096
"""Bytes of the longest line of a header, and lines of the longest header."""


class BadMetaImageError(Exception):
    """Why a file cannot be read as a MetaImage."""


@dataclass(frozen=True)
class Header:
    """What a MetaImage says of its voxels."""

    shape: tuple[int, int, int]
    """Planes, rows, columns."""
    dtype: np.dtype
    compressed: bool
    affine: Float64[np.ndarray, "4 4"]
    """Where voxel i, j, k (column, row, plane) is, in mm to the right, front and top."""


def read_header(file: IO[bytes]) -> Header:
    """The header of an open file, which is then at its first voxel."""
    told: dict[str, str] = {}
    for _ in range(LONGEST):
        line = file.readline(LONGEST)
        key, equals, value = line.decode("latin-1").partition("=")
        if not line or not equals:
            raise BadMetaImageError("its header does not end with ElementDataFile")
        told[key.strip()] = value.strip()
        if key.strip() == "ElementDataFile":
            break
    if told.get("ElementDataFile") != "LOCAL":
        raise BadMetaImageError("its voxels are in another file; only .mha with its own is read")
    if told.get("ElementNumberOfChannels", "1") != "1":
        raise BadMetaImageError("it has several numbers a voxel")
    sizes = _numbers(told, ("DimSize",), 3)
    if min(sizes) < 1 or any(size != int(size) for size in sizes):
        raise BadMetaImageError(f"its DimSize is {told['DimSize']}")
    if told.get("ElementType") not in TYPES:
        raise BadMetaImageError(f"its ElementType is {told.get('ElementType', 'not given')}")
    big = told.get("BinaryDataByteOrderMSB", told.get("ElementByteOrderMSB", "False"))
    order = ">" if big.lower() == "true" else "<"
    columns, rows, planes = (int(size) for size in sizes)
    return Header(
        shape=(planes, rows, columns),
        dtype=np.dtype(order + TYPES[told["ElementType"]]),
        compressed=told.get("CompressedData", "False").lower() == "true",
        affine=_affine(told),
    )


def read_values(file: IO[bytes], header: Header) -> Shaped[np.ndarray, "d h w"]:
    """The voxels of an open file, behind its header."""
    length = int(np.prod(header.shape)) * header.dtype.itemsize
    if header.compressed:
        try:
            content = zlib.decompressobj().decompress(file.read(), length + 1)
        except zlib.error as error:
            raise BadMetaImageError(f"its voxels cannot be unpacked ({error})") from error
    else:
        content = file.read(length + 1)
    if len(content) != length:
        found = "more" if len(content) > length else f"{len(content):,}"
        raise BadMetaImageError(f"it should have {length:,} bytes of voxels, but has {found}")
    return np.frombuffer(content, header.dtype).reshape(header.shape)


def _affine(told: dict[str, str]) -> Float64[np.ndarray, "4 4"]:
    """Columns are directions times spacing; MetaImage counts to the left and back, as ITK does."""
    turn = np.array(_numbers(told, ("TransformMatrix", "Rotation", "Orientation"), 9, np.eye(3)))
    steps = np.array(_numbers(told, ("ElementSpacing", "ElementSize"), 3, np.ones(3)))
    found = np.eye(4)
    found[:3, :3] = turn.reshape(3, 3).T * steps  # three numbers for each axis, one after another
    found[:3, 3] = _numbers(told, ("Offset", "Position", "Origin"), 3, np.zeros(3))
    found[:2] *= -1
    return found


def _numbers(
    told: dict[str, str], names: tuple[str, ...], count: int, usual: np.ndarray | None = None
) -> list[float]:
    """The numbers under the first of some names."""
    text = next((told[name] for name in names if name in told), None)
    if text is None:
        if usual is None:
            raise BadMetaImageError(f"it has no {names[0]}")
        return [float(number) for number in usual.ravel()]
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        found = []
    if len(found) != count or not np.isfinite(found).all():
        raise BadMetaImageError(f"its {names[0]} should be {count} numbers, but is {text[:60]!r}")
    return found
