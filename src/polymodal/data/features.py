"""Image features computed once: an image encoder that stays frozen need not run again each epoch.

A features folder holds `SPLIT.npy` (a row an image, in the split's order), `statistics.npy` (mean
and deviation of the training rows), `ids.json` for other programs, and, written last,
`manifest.json`, with the SHA-256 of every array.

Arrays are mapped into memory, but read as a whole when they are opened: their hashes are compared, and
hashed rows need not be looked through for numbers that are not finite. Who writes into a file that is
open is not noticed before it is opened again.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, UInt8

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.base.locks import writing
from polymodal.base.progress import progress_bar, say_once
from polymodal.data.columns import Stored
from polymodal.data.feature_files import FORMAT, blocks, open_array, read_manifest
from polymodal.data.records import Dataset

Extract = Callable[[UInt8[np.ndarray, "b h w 3"]], Float[np.ndarray, "b d"]]

_ROWS = 512
"""Rows of a block: what is lost when the writing is killed."""


@dataclass(frozen=True, eq=False)
class Features(Stored):
    """Each image as a vector: the column 'features'."""

    encoder: str = field(kw_only=True)
    """What computed them."""
    statistics: Float32[np.ndarray, "2 d"] | None = field(default=None, repr=False, kw_only=True)

    def batch(self, rows: Sequence[int]) -> Float32[np.ndarray, "b d"]:
        """The features of some images, as they were computed."""
        return super().batch(rows).astype(np.float32, copy=False)

    @property
    def dim(self) -> int:
        """The width of a vector."""
        return int(self.values.shape[1])

    @property
    def mean(self) -> Float32[np.ndarray, " d"]:
        """The mean vector of the training split."""
        return self._moments()[0]

    @property
    def std(self) -> Float32[np.ndarray, " d"]:
        """Each feature's deviation over the training split; 1 where it never varies."""
        return self._moments()[1]

    def _moments(self) -> Float32[np.ndarray, "2 d"]:
        if self.statistics is None:
            raise PolymodalError(
                "These features have no training split, so no mean and deviation are known. "
                "Compute them again with the train split among them."
            )
        return self.statistics


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
    if dtype not in ("float16", "float32"):
        raise PolymodalError(f"Features are float16 or float32, not {dtype!r}.")
    folder = Path(folder)
    plan = {
        "format": FORMAT,
        "encoder": encoder,
        "dtype": dtype,
        "splits": {n: {"count": len(s), "fingerprint": s.fingerprint} for n, s in splits.items()},
    }
    with writing(folder, wait=wait):
        if not _is_there(folder, plan):
            _write(splits, extract, folder, plan, batch_size, progress)


def _is_there(folder: Path, plan: dict[str, Any]) -> bool:
    """Whether these features are finished already; others are refused."""
    if not (folder / "manifest.json").exists():
        return False
    there = read_manifest(folder)
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
    batch_size: int,
    progress: bool,
) -> None:
    """Compute what is not there yet, join its parts, and write the manifest last."""
    parts = folder / f"parts-{files.fingerprint(plan)}"
    _extract(splits, extract, parts, batch_size, np.dtype(plan["dtype"]), progress)
    dim = {name: _join(parts, name, len(split), folder) for name, split in splits.items()}
    if len(set(dim.values())) > 1:
        raise PolymodalError(f"{folder}: the widths of the splits differ: {dim}. Start again.")
    if "train" in splits:
        with files.atomic(folder / "statistics.npy") as file:
            np.save(file, _statistics(np.load(folder / "train.npy", mmap_mode="r")))
    files.write_json(folder / "ids.json", {name: list(s.ids) for name, s in splits.items()})
    arrays = [f"{name}.npy" for name in (*splits, *(["statistics"] if "train" in splits else []))]
    hashes = {name: files.sha256(folder / name) for name in arrays}
    about = {**plan, "dim": max(dim.values(), default=0), "sha256": hashes}
    files.write_json(folder / "manifest.json", about)
    shutil.rmtree(parts)


def open_features(folder: Path, splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Datasets with a column of their features; refuse those of other data and damaged ones."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    hashes = manifest.get("sha256")
    if hashes is None:
        say_once(
            f"{folder} has no hashes of its features, as it was made by an earlier version: it is not "
            "known whether they are as they were computed."
        )
    statistics = None
    if "train" in manifest["splits"]:
        path = folder / "statistics.npy"
        statistics = open_array(path, (2, manifest["dim"]), "float32", hashes)
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
        rows = open_array(folder / f"{name}.npy", shape, manifest["dtype"], hashes)
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
    with np.errstate(over="ignore"):
        rows = rows.astype(dtype)
    bad = np.flatnonzero(~np.isfinite(rows).all(1))
    if len(bad):
        raise PolymodalError(
            f"The features of image {indices[int(bad[0])]} of {name!r} are not finite in "
            f"{dtype.name}. Check the encoder, or keep the features as float32."
        )
    return rows


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


def _statistics(rows: np.ndarray) -> Float32[np.ndarray, "2 d"]:
    """Mean and deviation of each column, in two passes of float64."""
    mean = sum(block.sum(0) for block in blocks(rows)) / len(rows)
    variance = sum(np.square(block - mean).sum(0) for block in blocks(rows)) / len(rows)
    std = np.sqrt(variance)
    return np.stack([mean, np.where(std > 1e-6, std, 1.0)]).astype(np.float32)
