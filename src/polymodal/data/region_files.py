"""Regions computed once: boxes of every image and a vector of each, in a folder.

A regions folder holds `SPLIT-boxes.npy` (n × r × 4, in pixels), `SPLIT-features.npy` (n × r × d, zero where
a box is empty), and what `row_files.py` says.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.data.proposals import RegionFeatures, joined, region_moments
from polymodal.data.records import Dataset
from polymodal.data.row_files import RowFiles
from polymodal.data.vectors import as_kept, kept_type

Regions = tuple[np.ndarray, np.ndarray]
"""Boxes b × r × 4 and vectors b × r × d."""

FOLDER = RowFiles(
    what="regions",
    format="polymodal regions 1",
    arrays=("-boxes", "-features"),
    rows=64,
    encoder=dict,
    told=("regions", "dim", "sha256"),
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

    def sizes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        first, *_ = splits
        _, r, dim = shapes[f"{first}-features"]
        return {"regions": r, "dim": dim}

    about = {"encoder": description, "dtype": dtype}
    FOLDER.write(
        splits,
        checked,
        folder,
        about,
        sizes=sizes,
        statistics=region_moments,
        progress=progress,
        wait=wait,
    )


def open_regions(folder: Path, splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Datasets with columns of proposals and their vectors; refuse those of other data and damaged ones."""
    folder = Path(folder)
    manifest = FOLDER.manifest(folder)
    r, d, hashes = manifest["regions"], manifest["dim"], manifest["sha256"]
    statistics = None
    if "train" in manifest["splits"]:
        statistics = FOLDER.array(folder / "statistics.npy", (2, d), "float32", hashes)
    opened = {}
    for name, split in splits.items():
        n = FOLDER.check_split(folder, manifest, name, split)
        boxes = FOLDER.array(folder / f"{name}-boxes.npy", (n, r, 4), "float32", hashes)
        path = folder / f"{name}-features.npy"
        vectors = FOLDER.array(path, (n, r, d), manifest["dtype"], hashes)
        told = {"encoder": manifest["encoder"], "statistics": statistics}
        opened[name] = joined(split, boxes, RegionFeatures(vectors, **told))
    return opened
