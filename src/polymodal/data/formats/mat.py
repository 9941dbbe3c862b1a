"""Variables of MATLAB files, each checked to be what it should."""

import struct
import zlib
from collections.abc import Collection
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from jaxtyping import Int64, Shaped

from polymodal.base.errors import PolymodalError
from polymodal.data.formats import archive
from polymodal.data.formats.archive import Source

_COMPRESSED = 15
"""The type of an element of a file of version 5 to 7 that holds a variable compressed by zlib."""

_DAMAGE = (OSError, ValueError, TypeError, IndexError, NotImplementedError, struct.error)
"""What scipy raises, besides its own, on files that are cut off, damaged or of version 7.3."""


def read_mat(source: Source, name: str, *needed: str) -> dict[str, np.ndarray]:
    """Some variables of a MATLAB file, without reading the others."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    path = source.path / name
    archive.length_of(source, name)
    try:
        with source.open(name) as file:
            _check_unpacked(file, path, needed)
            arrays = loadmat(file, variable_names=needed)
    except (MatReadError, zlib.error, *_DAMAGE) as error:
        raise PolymodalError(
            f"{path}: this is not a whole MATLAB file of version 5 to 7 ({error}). Copy it again."
        ) from error
    for variable in needed:
        if not isinstance(arrays.get(variable), np.ndarray):
            raise PolymodalError(
                f"{path}: there is no array {variable!r} in it. Is it the file of this dataset? "
                "Copy it again."
            )
    return {variable: arrays[variable] for variable in needed}


def _check_unpacked(file: BufferedIOBase, path: Path, needed: Collection[str]) -> None:
    """Refuse a variable that would unpack to too much, whatever length it says of itself."""
    from scipy.io import whosmat
    from scipy.io.matlab import matfile_version

    if matfile_version(file)[0] == 1:  # version 5 to 7; version 4 compresses nothing
        names = [name for name, *_ in whosmat(file)]
        file.seek(126)
        order = "<" if file.read(2) == b"IM" else ">"
        for name in names:
            kind, length = struct.unpack(f"{order}II", file.read(8))
            following = file.tell() + length
            if kind == _COMPRESSED and name in needed and _unpacks_to_more(file.read(length)):
                raise PolymodalError(
                    f"{path}: {name!r} has more than {archive.LARGEST_FILE:,} bytes unpacked, the "
                    "most that are read. Is it the right file? Copy it again."
                )
            file.seek(following)
    file.seek(0)


def _unpacks_to_more(packed: bytes) -> bool:
    """Whether zlib makes more of some bytes than is read; a piece at a time, and none is kept."""
    unpacker, length = zlib.decompressobj(), 0
    while packed and length <= archive.LARGEST_FILE:
        length += len(unpacker.decompress(packed, 2**20))
        packed = unpacker.unconsumed_tail
    return length > archive.LARGEST_FILE


def whole(array: Shaped[np.ndarray, "..."], where: str) -> Int64[np.ndarray, " n"]:
    """A vector of whole numbers, in whatever type and direction MATLAB wrote it."""
    if array.dtype.kind not in "iuf" or not (np.isfinite(array) & (array % 1 == 0)).all():
        raise PolymodalError(f"{where}: expected whole numbers. Copy the file again.")
    return array.ravel().astype(np.int64)


def strings(array: Shaped[np.ndarray, "..."], where: str) -> tuple[str, ...]:
    """A vector of texts, each in a cell of its own."""
    cells = [np.asarray(cell) for cell in array.ravel()]
    if not cells or any(cell.size != 1 or cell.dtype.kind != "U" for cell in cells):
        raise PolymodalError(f"{where}: expected a cell array of texts. Copy the file again.")
    return tuple(str(cell.item()).strip() for cell in cells)
