"""Reading the files of a features folder: refused unless they are as they were computed."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError

FORMAT = "polymodal features 1"
ROWS = 512
"""Rows that are looked at together."""


def blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """The rows in float64, some at a time."""
    for start in range(0, len(rows), ROWS):
        yield np.asarray(rows[start : start + ROWS], np.float64)


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a features folder says that it holds."""
    path = folder / "manifest.json"
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise PolymodalError(
            f"{folder}: there are no finished features (no manifest.json). Compute them first."
        ) from error
    except ValueError as error:
        raise PolymodalError(f"{path}: broken ({error}). Compute the features again.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PolymodalError(f"{path}: expected the format {FORMAT!r}. Compute the features again.")
    lost = {"encoder", "dtype", "splits", "dim"} - content.keys()
    if lost or not isinstance(content.get("sha256", {}), dict):
        what = f"no {', '.join(sorted(lost))}" if lost else "no hashes under 'sha256'"
        raise PolymodalError(f"{path}: broken ({what}). Compute the features again.")
    return content


def open_array(
    path: Path, shape: tuple[int, int], dtype: str, hashes: Mapping[str, str] | None
) -> np.ndarray:
    """A memory-mapped array, if it is of this shape and as it was written; before there were hashes, if it
    is finite."""
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise PolymodalError(
            f"{path}: missing or cut off ({error}). Copy it again, or compute the features again."
        ) from error
    if rows.shape != shape or rows.dtype != np.dtype(dtype):
        raise PolymodalError(
            f"{path}: expected {dtype} of shape {list(shape)}, found {rows.dtype} of "
            f"{list(rows.shape)}. Compute the features again."
        )
    if hashes is not None:
        if files.sha256(path) != hashes.get(path.name):
            raise PolymodalError(
                f"{path}: not as it was computed, by the SHA-256 in manifest.json. Copy the folder again, "
                "or compute the features again into another."
            )
        return rows
    for number, block in enumerate(blocks(rows)):
        bad = np.flatnonzero(~np.isfinite(block).all(1))
        if len(bad):
            row = number * ROWS + int(bad[0])
            raise PolymodalError(f"{path}: row {row} is not finite. Compute the features again.")
    return rows
