"""Image features computed once: an image encoder that stays frozen need not run again each epoch.

A features folder holds `SPLIT.npy` (a row an image, in the split's order), `statistics.npy` (mean
and deviation of the training rows), `ids.json` for other programs, and, written last,
`manifest.json`.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.base.locks import writing
from polymodal.base.progress import progress_bar
from polymodal.data.records import Dataset
from polymodal.data.vectors import Measured, as_kept, kept_type, moments

Extract = Callable[[UInt8[np.ndarray, "b h w 3"]], Float[np.ndarray, "b d"]]

_FORMAT = "polymodal features 1"
_ROWS = 512
"""Rows of a block: what is lost when the writing is killed, and read at once when it is checked."""


@dataclass(frozen=True, eq=False)
class Features(Measured):
    """Each image as a vector: the column 'features'."""

    encoder: str = field(kw_only=True)
    """What computed them."""


def write_features(
    splits: Mapping[str, Dataset],
    extract: Extract,
    folder: Path,
    encoder: str,
    *,
    batch_size: int = 32,
    dtype: str = "float16",
    progress: bool = True,
    wait: bool = False,
) -> None:
    """Run an encoder over every image and keep what it says; a killed call goes on where it was.

    Where the folder already holds these very features, nothing is done.

    Args:
        splits: datasets by name; `train` gives the statistics.
        extract: pictures to vectors, for instance a network in evaluation mode.
        folder: where to write.
        encoder: the encoder's name; other features in the folder are refused, not overwritten.
        batch_size: pictures given to `extract` at once.
        dtype: float16 or float32.
        progress: show a bar.
        wait: wait for another process that writes the folder; otherwise it is refused.
    """
    kind = kept_type(dtype)
    folder = Path(folder)
    plan = {
        "format": _FORMAT,
        "encoder": encoder,
        "dtype": dtype,
        "splits": {n: {"count": len(s), "fingerprint": s.fingerprint} for n, s in splits.items()},
    }
    with writing(folder, wait=wait):
        if not _is_there(folder, plan):
            _write(splits, extract, folder, plan, kind, batch_size, progress)


def _is_there(folder: Path, plan: dict[str, Any]) -> bool:
    """Whether these features are finished already; others are refused."""
    if not (folder / "manifest.json").exists():
        return False
    there = _manifest(folder)
    if {key: there.get(key) for key in plan} != plan:
        raise PolymodalError(
            f"{folder}: it already holds features of other data or of another encoder "
            f"({there.get('encoder')}). Choose another folder, or delete this one."
        )
    return True


def _write(
    splits: Mapping[str, Dataset],
    extract: Extract,
    folder: Path,
    plan: dict[str, Any],
    kind: np.dtype[Any],
    batch_size: int,
    progress: bool,
) -> None:
    """Compute what is not there yet, join its parts, and write the manifest last."""
    parts = folder / f"parts-{files.fingerprint(plan)}"
    _extract(splits, extract, parts, batch_size, kind, progress)
    dim = {name: _join(parts, name, len(split), folder) for name, split in splits.items()}
    if len(set(dim.values())) > 1:
        raise PolymodalError(f"{folder}: the widths of the splits differ: {dim}. Start again.")
    if "train" in splits:
        with files.atomic(folder / "statistics.npy") as file:
            rows = np.load(folder / "train.npy", mmap_mode="r")
            np.save(file, moments(lambda: _blocks(rows)))
    files.write_json(folder / "ids.json", {name: list(s.ids) for name, s in splits.items()})
    files.write_json(folder / "manifest.json", {**plan, "dim": max(dim.values(), default=0)})
    shutil.rmtree(parts)


def open_features(folder: Path, splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Datasets with a column of their features; refuse those of other data and damaged ones."""
    folder = Path(folder)
    manifest = _manifest(folder)
    statistics = None
    if "train" in manifest["splits"]:
        statistics = _array(folder / "statistics.npy", (2, manifest["dim"]), "float32")
    opened = {}
    for name, split in splits.items():
        kept = manifest["splits"].get(name)
        if kept is None:
            raise PolymodalError(
                f"{folder}: no features of the split {name!r}, only of "
                f"{', '.join(manifest['splits'])}. Compute the features again."
            )
        if kept["fingerprint"] != split.fingerprint:
            raise PolymodalError(
                f"{folder}: the features of {name!r} are of other data: {kept['count']} images, "
                f"fingerprint {kept['fingerprint']}; the split has {len(split)}, fingerprint "
                f"{split.fingerprint}. Captions, image size or files changed: compute them again."
            )
        shape = (kept["count"], manifest["dim"])
        rows = _array(folder / f"{name}.npy", shape, manifest["dtype"])
        features = Features(rows, encoder=manifest["encoder"], statistics=statistics)
        opened[name] = with_features(split, features)
    return opened


def with_features(dataset: Dataset, features: Features) -> Dataset:
    """The same dataset with a column of features; its hash is still that of its pictures."""
    return Dataset(
        {**dataset.columns, "features": features},
        ids=dataset.ids,
        fingerprint=dataset.fingerprint,
        rule=f"{dataset.rule}; features of {features.encoder}",
    )


def features_of(dataset: Dataset) -> Features | None:
    """The column of features of a dataset, if it has one."""
    found: Any = dataset.columns.get("features")
    return found


def pictures_alone(dataset: Dataset) -> Dataset:
    """The same dataset, unless it has features, in whose place somebody needs pictures."""
    if "features" in dataset.columns:
        raise PolymodalError(
            "Pictures are needed, not features that an encoder made of them. Leave out --features."
        )
    return dataset


def _extract(
    splits: Mapping[str, Dataset],
    extract: Extract,
    parts: Path,
    batch_size: int,
    dtype: np.dtype[Any],
    progress: bool,
) -> None:
    """Compute every block that is not there yet, each written whole."""
    count = sum(map(len, splits.values()))
    with progress_bar("Computing features", count, shown=progress) as advance:
        for name, split in splits.items():
            for start in range(0, len(split), _ROWS):
                path = _part(parts, name, start)
                stop = min(start + _ROWS, len(split))
                if path.exists():
                    advance(stop - start)
                    continue
                rows = []
                for at in range(start, stop, batch_size):
                    indices = range(at, min(at + batch_size, stop))
                    rows.append(_rows(extract(split.images(indices)), indices, name, dtype))
                    advance(len(indices))
                with files.atomic(path) as file:
                    np.save(file, np.concatenate(rows))


def _rows(found: Any, indices: range, name: str, dtype: np.dtype[Any]) -> np.ndarray:
    """The encoder's answer, checked."""
    rows = np.asarray(found)
    if rows.ndim != 2 or len(rows) != len(indices) or rows.dtype.kind != "f":
        raise PolymodalError(
            f"The encoder should give floats of shape [{len(indices)}, d], one row an image, "
            f"but gave {rows.dtype} of shape {list(rows.shape)}. Pool its output."
        )
    return as_kept(rows, dtype, indices, repr(name))


def _part(parts: Path, name: str, start: int) -> Path:
    return parts / f"{name}-{start:09d}.npy"


def _join(parts: Path, name: str, count: int, folder: Path) -> int:
    """Write the blocks of a split as one array; give its width."""
    paths = [_part(parts, name, start) for start in range(0, count, _ROWS)]
    if not paths:
        raise PolymodalError(f"The split {name!r} has no images. Leave it out.")
    first = np.load(paths[0], mmap_mode="r")
    header = {"descr": first.dtype.str, "fortran_order": False, "shape": (count, first.shape[1])}
    with files.atomic(folder / f"{name}.npy") as file:
        np.lib.format.write_array_header_2_0(file, header)
        for path in paths:
            block = np.load(path)
            if block.shape[1] != first.shape[1]:
                raise PolymodalError(
                    f"{path}: the encoder gave {block.shape[1]} features here and {first.shape[1]} "
                    f"before. Delete {parts} and start again."
                )
            file.write(block.tobytes())
    return int(first.shape[1])


def _blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), _ROWS):
        yield np.asarray(rows[start : start + _ROWS], np.float64)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise PolymodalError(
            f"{folder}: there are no finished features (no manifest.json). Compute them first."
        ) from error
    except ValueError as error:
        raise PolymodalError(f"{path}: broken ({error}). Compute the features again.") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise PolymodalError(
            f"{path}: expected the format {_FORMAT!r}. Compute the features again."
        )
    return content


def _array(path: Path, shape: tuple[int, int], dtype: str) -> np.ndarray:
    """A memory-mapped array, if it is whole, of this shape, and finite."""
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
    for number, block in enumerate(_blocks(rows)):
        bad = np.flatnonzero(~np.isfinite(block).all(1))
        if len(bad):
            row = number * _ROWS + int(bad[0])
            raise PolymodalError(f"{path}: row {row} is not finite. Compute the features again.")
    return rows
