"""Variables of MATLAB files, each checked to be what it should."""

import zlib

import numpy as np
from jaxtyping import Int64, Shaped

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source

_DAMAGE = (OSError, ValueError, TypeError, IndexError, NotImplementedError)
"""What scipy raises, besides its own, on files that are cut off, damaged or of version 7.3."""


def read_mat(source: Source, name: str, *needed: str) -> dict[str, np.ndarray]:
    """Some variables of a MATLAB file, without reading the others."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    path = source.path / name
    try:
        with source.open(name) as file:
            found = loadmat(file, variable_names=needed)
    except (MatReadError, zlib.error, *_DAMAGE) as error:
        raise PolymodalError(
            f"{path}: this is not a whole MATLAB file of version 5 to 7 ({error}). Copy it again."
        ) from error
    for variable in needed:
        if not isinstance(found.get(variable), np.ndarray):
            raise PolymodalError(
                f"{path}: there is no array {variable!r} in it. Is it the file of this dataset? "
                "Copy it again."
            )
    return {variable: found[variable] for variable in needed}


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
