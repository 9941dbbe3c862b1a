"""Small zero-shot datasets in their true formats, each image of one grey of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from polymodal.base.errors import PolymodalError
from polymodal.data.class_folder import ClassedSplit, open_classes
from polymodal.data.folder import Folder

ATTRIBUTES = np.array([[60.0, 0, 80, 0], [30, 40, 0, 0], [0, 0, 0, 7], [1, 2, 2, 4]])


def cells(texts: Sequence[str]) -> np.ndarray:
    """Texts as MATLAB keeps them."""
    return np.array([[text] for text in texts], dtype=object)


@dataclass
class Made:
    """A dataset, its splits, and how to break them."""

    name: str
    path: Path
    splits: Path
    classes: tuple[str, ...]
    """The order of allclasses_names."""
    variables: dict[str, Any] = field(default_factory=dict)
    """What each .mat holds."""
    attributes: np.ndarray = field(default_factory=lambda: ATTRIBUTES)
    """A row a class, in the order of `classes`."""

    @staticmethod
    def grey(number: int) -> int:
        """The shade of an image by its number, counted from 1."""
        return 20 * number

    def open(self, **options: Any) -> Folder:
        return open_classes(
            self.name, self.path, splits=self.splits, **{"size": 4, "progress": False, **options}
        )

    def split(self, split: str, **options: Any) -> ClassedSplit:
        found = self.open(**options)[split]
        assert isinstance(found, ClassedSplit)
        return found

    def error(self, **options: Any) -> str:
        with pytest.raises(PolymodalError) as caught:
            self.open(**options)
        return str(caught.value)

    def write_mat(self, name: str = "att_splits.mat", **changes: Any) -> Path:
        """Write a .mat of the splits anew, some variables changed, and without those that are None."""
        changed = self.variables[name] | changes
        savemat(self.splits / name, {k: v for k, v in changed.items() if v is not None})
        return self.splits / name


def write_splits(
    folder: Path, names: Sequence[str], trainval: Sequence[int], seen: Sequence[int]
) -> dict[str, Any]:
    """The lists of 4 classes, the last unseen, whose images are 7 and 8; and the .mat's variables."""
    folder.mkdir()
    lists = {"train": [names[0], names[2]], "val": [names[1]]}
    for fold in (1, 2, 3):
        for split, chosen in lists.items():
            text = "\n".join(chosen) + "\n"
            (folder / f"{split}classes{fold}.txt").write_text(text, "utf-8")
        lists = {"train": [names[1], names[2]], "val": [names[0]]}
    return {
        "allclasses_names": cells(names),
        "att": ATTRIBUTES.T,
        "trainval_loc": np.array(trainval, np.uint16)[:, None],
        "test_seen_loc": np.array(seen, np.uint16)[:, None],
        "test_unseen_loc": np.array([8, 7], np.uint16)[:, None],
    }


@pytest.fixture
def birds(tmp_path: Path) -> Made:
    """CUB: images 1 to 8 of 40×20 pixels, two a class, whose classes xlsa17 orders otherwise."""
    path = tmp_path / "CUB_200_2011"
    classes = ("001.Black_footed_Albatross", "002.Ani", "003.Crested_Auklet", "004.Wren")
    images = [f"{classes[i // 2]}/{i + 1:02d}.png" for i in range(8)]
    for number, name in enumerate(images, start=1):
        (path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 20), (Made.grey(number),) * 3).save(path / "images" / name)
    (path / "parts").mkdir()
    places = [
        f"{i} {p} {i + 10.0 * p:.2f} {2.5 * p:.2f} {p % 2}" for i in range(1, 9) for p in (1, 2, 3)
    ]
    tables = {
        "images.txt": images,
        "image_class_labels.txt": [i // 2 + 1 for i in range(8)],
        "classes.txt": classes,
        "attributes.txt": ["has_a::b", "has_a::c", "has_d::(e_-_f)", "has_g::h"],
        "parts/parts.txt": ["beak", "left eye", "tail"],
    }
    for name, rows in tables.items():
        lines = [f"{number} {row}" for number, row in enumerate(rows, start=1)]
        (path / name).write_text("\n".join(lines) + "\n", "utf-8")
    (path / "parts/part_locs.txt").write_text("\n".join(places) + "\n", "utf-8")
    order = tuple(classes[k] for k in (1, 2, 0, 3))
    made = Made("cub", path, tmp_path / "CUB", order)
    variables = write_splits(made.splits, made.classes, [6, 1, 4, 3], [2, 5])
    made.variables = {"att_splits.mat": variables}
    made.write_mat()
    return made


def listed(
    made: Made, images: Sequence[str], home: str, trainval: Sequence[int], seen: Sequence[int]
) -> Made:
    """A dataset whose images `res101.mat` lists by the paths of another machine."""
    for number, name in enumerate(images, start=1):
        (made.path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (Made.grey(number),) * 3).save(made.path / name)
    made.variables = {
        "att_splits.mat": write_splits(made.splits, made.classes, trainval, seen),
        "res101.mat": {
            "image_files": cells([f"{home}/{name}" for name in images]),
            "labels": np.array([[1, 1, 2, 2, 3, 3, 4, 4]], np.float64).T,
            "features": np.zeros((3, 8)),
        },
    }
    made.write_mat()
    made.write_mat("res101.mat")
    return made


@pytest.fixture
def animals(tmp_path: Path) -> Made:
    """AWA2: two images a class."""
    classes = ("antelope", "grizzly+bear", "ox", "zebra")
    made = Made("awa2", tmp_path / "Animals_with_Attributes2", tmp_path / "AWA2", classes)
    images = [f"JPEGImages/{c}/{c}_{k}.jpg" for c in classes for k in (10001, 10002)]
    listed(made, images, "/BS/data/Animals_with_Attributes2/", [6, 1, 4, 3], [2, 5])
    names = "    1\tblack\n    2\tnew world\n    3\tbig\n    4\tfast\n"
    (made.path / "predicates.txt").write_text(names, "utf-8")
    return made


@pytest.fixture
def scenes(tmp_path: Path) -> Made:
    """SUN: two images a class, some of whose folders lie within another."""
    classes = ("abbey", "bakery_shop", "bar", "temple_south_asia")
    folders = ("a/abbey", "b/bakery/shop", "b/bar", "t/temple/south_asia")
    made = Made("sun", tmp_path / "SUN", tmp_path / "splits", classes)
    images = [f"images/{f}/sun_{k}.jpg" for f in folders for k in "ab"]
    listed(made, images, "/BS/images/work/SUN", [6, 1, 4, 3], [2, 5])
    (made.path / "SUNAttributeDB").mkdir()
    names = {"attributes": cells(["sailing", "man-made", "dirt", "open area"])}
    savemat(made.path / "SUNAttributeDB" / "attributes.mat", names)
    return made
