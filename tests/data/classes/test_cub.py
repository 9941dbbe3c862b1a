"""CUB with the splits of xlsa17: images, classes, attributes and parts, and what can be wrong in them."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from polymodal.data.classes import classed, has_classes, unit_attributes
from polymodal.data.sources import open_splits

DATA = Path(__file__).parents[4] / "shared" / "data"
CUB, SPLITS = DATA / "cub-128.zip", DATA / "xlsa17" / "CUB"


def ids(splits):
    return {name: [int(id) for id in split.ids] for name, split in splits.items()}


@pytest.mark.parametrize("layout", ["flat", "release", "zip"])
def test_splits(birds, layout):
    if layout == "release":  # where attributes.txt lies beside the rest
        shutil.move(birds.path / "attributes.txt", birds.path.parent / "attributes.txt")
        birds.path = birds.path.parent
    if layout == "zip":
        home, name = birds.path.parent, birds.path.name
        birds.path = Path(shutil.make_archive(str(home / "packed"), "zip", home, name))
    splits = birds.open()
    assert ids(splits) == {
        "train": [1, 4, 3],
        "val": [6],
        "trainval": [6, 1, 4, 3],
        "test_seen": [2, 5],
        "test": [8, 7],
    }
    for split in splits.values():
        assert classed(split) is split
        shades = split.images(range(len(split)))[:, 0, 0, 0].tolist()
        assert shades == [birds.grey(int(id)) for id in split.ids]
        assert split.labels.tolist() == [(int(id) - 1) // 2 for id in split.ids]


def test_another_fold(birds):
    assert ids(birds.open(fold=2)) == ids(birds.open()) | {"train": [6, 1], "val": [4, 3]}
    assert birds.error(fold=4) == "fold must be 1 to 3, not 4."
    assert birds.error(fold=0) == "fold must be 1 to 3, not 0."


def test_attributes_follow_the_classes_not_the_order_of_the_splits(birds):
    split = birds.split("val")
    assert split.classes[0] == "001.Black_footed_Albatross"
    assert birds.classes[0] == "002.Ani"
    told = dict(zip(birds.classes, birds.attributes.tolist(), strict=True))
    assert {
        name: row.tolist() for name, row in zip(split.classes, split.attributes, strict=True)
    } == told
    assert split.attributes.dtype == np.float32
    assert split.attribute_names == ("has_a::b", "has_a::c", "has_d::(e_-_f)", "has_g::h")


def test_a_caption_is_the_class_in_words(birds):
    split = birds.split("test_seen")
    assert [split.captions(i)[0].text for i in range(2)] == [
        "black footed albatross",
        "crested auklet",
    ]
    assert split[0].captions == split.captions(0)


def test_parts_lie_in_the_centre_square(birds):
    split = birds.split("train")
    assert split.part_names == ("beak", "left eye", "tail")
    # images of 40×20 pixels lose 10 columns at either end, and with them the tail
    assert split.parts.tolist() == [
        [[pytest.approx(image / 20), 0.125, 1], [0, 0, 0], [0, 0, 0]] for image in (1, 4, 3)
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("images.txt", "3 002", "4 002", ":3: expected the number 3 and what goes with it, found '4 002."),
        ("images.txt", "3 002.Ani/03.png", "3", ":3: expected the number 3 and what goes with it, found '3'"),
        ("image_class_labels.txt", "3 2\n", "3 5\n", ":3: there is no class '5': classes.txt has 4 lines."),
        ("image_class_labels.txt", "3 2\n", "3 0\n", ":3: there is no class '0'"),
        ("image_class_labels.txt", "3 2\n", "3 -2\n", ":3: there is no class '-2'"),
        ("image_class_labels.txt", "3 2\n", f"3 {'2' * 5000}\n", ":3: there is no class '222"),
        ("image_class_labels.txt", "8 4\n", "", ": expected 8 lines, found 7. Copy the file again."),
        ("classes.txt", "4 004.Wren\n", "", ": found 3 classes, where the splits have 4. Give CUB's splits"),
        ("classes.txt", "Wren", "Dodo", ":4: '004.Dodo' is not among the 4 classes of "),
        ("attributes.txt", "4 has_g::h\n", "", ": expected 4 lines, found 3."),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "", ": there is no line for part 1 of image 2. Copy"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 1 12.00 2.50\n",
         ":4: expected an image (1 to 8), a part (1 to 3), x, y, and 1 or 0, found '2 1 12.00 2.50'. Copy"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "9 1 12.00 2.50 1\n", ":4: expected an image (1 to 8)"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 4 12.00 2.50 1\n", ":4: expected an image"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 1 nan 2.50 1\n", ":4: expected an image"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 1 12.00 -inf 1\n", ":4: expected an image"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 1 12.00 2.50 2\n", ":4: expected an image"),
        ("parts/part_locs.txt", "2 1 12.00 2.50 1\n", "2 1 here 2.50 1\n", ":4: expected an image"),
    ],
)  # fmt: skip
def test_bad_lines_cannot_be_skipped(birds, file, old, new, message):
    path = birds.path / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    assert f"{path}{message}" in birds.error()
    assert f"{path}{message}" in birds.error(skip_bad=True)


def test_an_empty_list(birds):
    (birds.path / "images.txt").write_text("\n", "utf-8")
    assert f"{birds.path / 'images.txt'}: expected some lines, found 0. Copy" in birds.error()


@pytest.mark.parametrize("file", ["images.txt", "image_class_labels.txt", "classes.txt",
                                  "attributes.txt", "parts/parts.txt", "parts/part_locs.txt"])  # fmt: skip
def test_a_file_that_is_not_there(birds, file):
    (birds.path / file).unlink()
    assert birds.error() == f"{birds.path}: CUB-200-2011 lacks {file}. Copy it from the dataset."


@pytest.mark.skipif(not CUB.exists(), reason=f"{CUB.name} is not beside the repository")
def test_all_of_cub():
    splits = open_splits(f"cub:{CUB},splits={SPLITS},size=32")
    found = {name: (len(split), len(set(split.labels.tolist()))) for name, split in splits.items()}
    assert found == {
        "train": (4702, 100),
        "val": (2355, 50),
        "trainval": (7057, 150),
        "test_seen": (1764, 150),
        "test": (2967, 50),
    }
    test = splits["test"]
    assert has_classes(test)
    assert test.attributes.shape == (200, 312)
    with zipfile.ZipFile(CUB) as files:
        text = files.read("CUB_200_2011/attributes/class_attribute_labels_continuous.txt").decode()
    percentages = np.array([line.split() for line in text.splitlines()], np.float64)
    assert np.allclose(unit_attributes(test.attributes), unit_attributes(percentages), atol=1e-4)
    name = test.items[0].name.removeprefix("images/").partition("/")[0]
    assert test.classes[test.labels[0]] == name
    seen = test.parts[test.parts[..., 2] == 1]
    assert len(seen) / len(test) == pytest.approx(12, abs=0.3)
    assert 0.4 < seen[:, 0].mean() < 0.6
    assert test.images([0, -1]).shape == (2, 32, 32, 3)
