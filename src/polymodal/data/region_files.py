"""Regions computed once: boxes of every image and a vector of each, in a folder.

The folder holds `SPLIT-boxes.npy` (n × r × 4, in pixels), `SPLIT-features.npy` (n × r × d, zero where a
box is empty), `statistics.npy` (mean and deviation of the training split's vectors), `ids.json` for other
programs, and, written last, `manifest.json` with the SHA-256 of each file.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.data.proposals import RegionFeatures, joined, region_moments
from polymodal.data.records import Dataset
from polymodal.data.row_files import RowFiles
from polymodal.data.vectors import as_kept, kept_type

Regions = tuple[np.ndarray, np.ndarray]
"""Boxes b × r × 4 and vectors b × r × d."""

FOLDER = RowFiles(
    what="regions", format="polymodal regions 1", arrays=("-boxes", "-features"), rows=64
)


def write_regions(
    splits: Mapping[str, Dataset],
    compute: Callable[[Dataset, range], Iterator[Regions]],
    folder: Path,
    description: Mapping[str, Any],
    *,
    dtype: str = "float16",
    progress: bool = True,
    wait: bool = False,
) -> None:
    """Compute the regions of every image and keep them; a killed call goes on where it was.

    Args:
        splits: datasets by name; `train` gives the statistics.
        compute: gives boxes and vectors of some images of a split, by the batch.
        folder: where to write; regions of another description or of other data are refused.
        description: how they are computed, as JSON.
        dtype: of the vectors, float16 or float32.
        progress: show a bar.
        wait: wait for another process that writes the folder; otherwise it is refused.
    """
    kind, folder = kept_type(dtype), Path(folder)

    def checked(name: str, split: Dataset, images: range) -> Iterator[Regions]:
        done = 0
        for boxes, vectors in compute(split, images):
            yield boxes, as_kept(vectors, kind, images[done:], repr(name))
            done += len(boxes)

    def finish(shapes: Mapping[str, tuple[int, ...]]) -> tuple[list[str], dict[str, Any]]:
        if "train" in splits:
            boxes, vectors = (
                np.load(folder / f"train{array}.npy", mmap_mode="r") for array in FOLDER.arrays
            )
            with files.atomic(folder / "statistics.npy") as file:
                np.save(file, region_moments(boxes, vectors))
        boxes_shape, features_shape, *_ = shapes.values()
        about = {"regions": boxes_shape[1], "dim": features_shape[2]}
        return ["statistics"] if "train" in splits else [], about

    about = {"encoder": description, "dtype": dtype}
    FOLDER.write(splits, checked, folder, about, finish, progress=progress, wait=wait)


def open_regions(folder: Path, splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Datasets with columns of proposals and their vectors; refuse those of other data and damaged ones."""
    folder = Path(folder)
    manifest = FOLDER.manifest(folder)
    r, d, dtype = manifest["regions"], manifest["dim"], manifest["dtype"]
    counts = {n: FOLDER.check_split(folder, manifest, n, split) for n, split in splits.items()}

    def array(name: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
        return FOLDER.array(folder / name, shape, kind, manifest)

    train = "train" in manifest["splits"]
    statistics = array("statistics.npy", (2, d), "float32") if train else None
    opened = {}
    for name, split in splits.items():
        boxes = array(f"{name}-boxes.npy", (counts[name], r, 4), "float32")
        vectors = array(f"{name}-features.npy", (counts[name], r, d), dtype)
        told = {"encoder": manifest["encoder"], "statistics": statistics}
        opened[name] = joined(split, boxes, RegionFeatures(vectors, **told))
    return opened
