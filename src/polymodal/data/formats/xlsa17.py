"""The splits and class attributes of Xian et al. (xlsa17): `att_splits.mat` and its lists of classes.

`train` and `val`, for selection, are the images of `trainval_loc` divided by the lists
`trainclasses1.txt` and `valclasses1.txt`. The `train_loc` and `val_loc` of the first release are not
read: they hold the images of `test_seen_loc` as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Int64, Shaped

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Directory, Source, find, read_text
from polymodal.data.formats.mat import read_mat, strings, whole

FILE = "att_splits.mat"
LOCATIONS = {"trainval": "trainval_loc", "test_seen": "test_seen_loc", "test": "test_unseen_loc"}
"""The variable that lists the images of each split."""

FOLDS = 3
"""How many ways of dividing the seen classes there are lists for."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """What the files of one dataset say."""

    source: Directory
    classes: tuple[str, ...]
    attributes: Float32[np.ndarray, "c a"]
    """A row a class in the order of `classes`, which need not be the dataset's own."""
    locations: Mapping[str, Int64[np.ndarray, " n"]]
    """The images of `trainval`, `test_seen` and `test`, counted from 1."""
    folds: Mapping[str, frozenset[str]]
    """The classes of `train` and `val`."""

    @property
    def path(self) -> Path:
        """The file of the splits."""
        return self.source.path / FILE

    def places(
        self, labels: Int64[np.ndarray, " n"], classes: tuple[str, ...]
    ) -> dict[str, Int64[np.ndarray, " m"]]:
        """The images of every split, counted from 0, of a dataset with these labels and classes."""
        places = {}
        for split, locations in self.locations.items():
            wrong = locations[(locations < 1) | (locations > len(labels))]
            if len(wrong):
                raise PolymodalError(
                    f"{self.path}: {LOCATIONS[split]} has the location {wrong[0]}, but the dataset "
                    f"lists {len(labels)} images. Give the splits of this dataset."
                )
            places[split] = locations - 1
        self._check_apart(places, labels, classes)
        names = np.array(classes)[labels[places["trainval"]]]
        folds = {
            split: places["trainval"][np.isin(names, list(chosen))]
            for split, chosen in self.folds.items()
        }
        return folds | places

    def _check_apart(
        self, places: Mapping[str, np.ndarray], labels: np.ndarray, classes: tuple[str, ...]
    ) -> None:
        """No image is in two splits, and no class of `test` in the others."""
        every, times = np.unique(np.concatenate(list(places.values())), return_counts=True)
        if (times > 1).any():
            raise PolymodalError(
                f"{self.path}: the location {every[times.argmax()] + 1} stands in it "
                f"{times.max()} times, but an image is in one split only. Copy the file again."
            )
        seen = labels[np.concatenate([places["trainval"], places["test_seen"]])]
        both = np.intersect1d(seen, labels[places["test"]])
        if len(both):
            raise PolymodalError(
                f"{self.path}: the class {classes[both[0]]!r} is among the seen and the unseen. "
                "The dataset lists its images in another order: give the splits of this dataset."
            )


def check_fold(fold: int) -> None:
    """Refuse a division of the seen classes that there is no list for."""
    if not 1 <= fold <= FOLDS:
        raise PolymodalError(f"fold must be 1 to {FOLDS}, not {fold}.")


def read_benchmark(folder: Path, fold: int = 1) -> Benchmark:
    """Read a folder such as `xlsa17/CUB`.

    Args:
        folder: where `att_splits.mat` and the lists of classes are.
        fold: which of the three divisions of the seen classes gives `train` and `val`.
    """
    check_fold(fold)
    source, path = Directory(folder), folder / FILE
    if find(source, FILE) is None:
        raise PolymodalError(
            f"{folder}: there is no {FILE}. Give with splits= the folder of xlsa17 that has it, "
            "such as xlsa17/CUB."
        )
    arrays = read_mat(source, FILE, "allclasses_names", "att", *LOCATIONS.values())
    classes = strings(arrays["allclasses_names"], f"{path}: allclasses_names")
    return Benchmark(
        source=source,
        classes=classes,
        attributes=_attributes(arrays["att"], classes, path),
        locations={split: whole(arrays[v], f"{path}: {v}") for split, v in LOCATIONS.items()},
        folds=_folds(source, fold, classes),
    )


def _attributes(
    columns: Shaped[np.ndarray, "..."], classes: tuple[str, ...], path: Path
) -> Float32[np.ndarray, "c a"]:
    """A row of numbers a class."""
    if len(set(classes)) < len(classes):
        twice = next(name for name in classes if classes.count(name) > 1)
        raise PolymodalError(
            f"{path}: allclasses_names has {twice!r} more than once. Copy the file again."
        )
    if columns.ndim != 2 or columns.shape[1] != len(classes):
        raise PolymodalError(
            f"{path}: expected att to have {len(classes)} columns, one a class, found the shape "
            f"{'×'.join(map(str, columns.shape))}. Copy the file again."
        )
    numbers = columns.dtype.kind in "iuf"
    for name, column in zip(classes, columns.T, strict=True):
        if not numbers or not np.isfinite(column).all():
            raise PolymodalError(
                f"{path}: an attribute of {name!r} in att is not a finite number. Copy the file again."
            )
    return np.ascontiguousarray(columns.T, np.float32)


def _folds(source: Source, fold: int, known: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """The classes of `train` and of `val`, each list a class a line."""
    folds: dict[str, frozenset[str]] = {}
    taken: dict[str, str] = {}
    for split in ("train", "val"):
        name = f"{split}classes{fold}.txt"
        if find(source, name) is None:
            raise PolymodalError(
                f"{source.path / name}: there is no such file. Copy it from xlsa17."
            )
        lines = [line.strip() for line in read_text(source, name).split("\n")]
        for number, line in enumerate(lines, start=1):
            where = f"{source.path / name}:{number}"
            if line and line not in known:
                raise PolymodalError(
                    f"{where}: there is no class {line!r} among the {len(known)} of {FILE}. "
                    "Mend the line."
                )
            if line and taken.setdefault(line, where) != where:
                raise PolymodalError(
                    f"{where}: {line!r} stands already at {taken[line]}. Keep one of the two."
                )
        folds[split] = frozenset(lines) - {""}
    return folds
