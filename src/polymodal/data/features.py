"""Image features computed once: an image encoder that stays frozen need not run again each epoch.

A features folder holds `SPLIT.npy`, a row an image, and what `row_files.py` says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say_once
from polymodal.data.records import Dataset
from polymodal.data.row_files import RowFiles
from polymodal.data.vectors import Measured, as_kept, kept_type, moments

Extract = Callable[[UInt8[np.ndarray, "b h w 3"]], Float[np.ndarray, "b d"]]

FOLDER = RowFiles(
    what="features", format="polymodal features 1", rows=512, encoder=str, told=("dim",)
)


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
    kind, folder = kept_type(dtype), Path(folder)

    def compute(name: str, split: Dataset, images: range) -> Iterator[tuple[np.ndarray]]:
        for at in range(images.start, images.stop, batch_size):
            indices = range(at, min(at + batch_size, images.stop))
            yield (_rows(extract(split.images(indices)), indices, name, kind),)

    def sizes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        dim = {name: shape[1] for name, shape in shapes.items()}
        if len(set(dim.values())) > 1:
            raise PolymodalError(f"{folder}: the widths of the splits differ: {dim}. Start again.")
        return {"dim": max(dim.values(), default=0)}

    def statistics(rows: np.ndarray) -> np.ndarray:
        return moments(lambda: FOLDER.blocks(rows))

    about = {"encoder": encoder, "dtype": dtype}
    FOLDER.write(
        splits,
        compute,
        folder,
        about,
        sizes=sizes,
        statistics=statistics,
        progress=progress,
        wait=wait,
    )


def open_features(folder: Path, splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Datasets with a column of their features; refuse those of other data and damaged ones."""
    folder = Path(folder)
    manifest = FOLDER.manifest(folder)
    dim, hashes = manifest["dim"], manifest.get("sha256")
    if hashes is None:
        say_once(
            f"{folder} has no hashes of its features, as it was made by an earlier version: it is not "
            "known whether they are as they were computed."
        )
    statistics = None
    if "train" in manifest["splits"]:
        statistics = FOLDER.array(folder / "statistics.npy", (2, dim), "float32", hashes)
    opened = {}
    for name, split in splits.items():
        shape = (FOLDER.check_split(folder, manifest, name, split), dim)
        rows = FOLDER.array(folder / f"{name}.npy", shape, manifest["dtype"], hashes)
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


def _rows(found: Any, indices: range, name: str, dtype: np.dtype[Any]) -> np.ndarray:
    """The encoder's answer, checked."""
    rows = np.asarray(found)
    if rows.ndim != 2 or len(rows) != len(indices) or rows.dtype.kind != "f":
        raise PolymodalError(
            f"The encoder should give floats of shape [{len(indices)}, d], one row an image, "
            f"but gave {rows.dtype} of shape {list(rows.shape)}. Pool its output."
        )
    return as_kept(rows, dtype, indices, repr(name))
