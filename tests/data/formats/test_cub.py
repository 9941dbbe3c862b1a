"""CUB's own files: the words of a class, its splits, and everything that can be wrong in them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import open_folder
from polymodal.data.formats import cub_captions as cub
from polymodal.data.image_texts import ImageTexts, words_of

CUB = Path(__file__).parents[4] / "shared" / "data" / "cub-128.zip"

FILES = {
    "images.txt": "1 a/x.png\n2 a/y.png\n3 b/x.png\n10 b/y.png\n",
    "image_class_labels.txt": "1 1\n2 1\n3 2\n10 2\n",
    "train_test_split.txt": "1 1\n2 0\n3 1\n10 1\n",
    "attributes.txt": (
        "1 has_bill_shape::cone\n2 has_wing_color::blue\n"
        "3 has_size::large_(16_-_32_in)\n4 has_tail_shape::forked_tail\n"
    ),
    "attributes/class_attribute_labels_continuous.txt": "80.5 60 0 51\n10 60 90 50\n",
}
PERCENTAGES = "attributes/class_attribute_labels_continuous.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four birds of two classes."""
    folder = tmp_path / "CUB_200_2011"
    (folder / "attributes").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    for name in ("a/x.png", "a/y.png", "b/x.png", "b/y.png"):
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (90, 90, 200)).save(folder / "images" / name)
    return folder


def strict(folder: Path) -> str:
    with pytest.raises(PolymodalError) as caught:
        open_folder(folder, progress=False)
    return str(caught.value)


@pytest.mark.parametrize("layout", ["flat", "release", "zip"])
def test_words_and_splits(folder: Path, layout: str) -> None:
    path = folder
    if layout == "release":  # where attributes.txt lies beside the rest
        shutil.move(folder / "attributes.txt", folder.parent / "attributes.txt")
        path = folder.parent
    if layout == "zip":
        home = folder.parent
        path = Path(shutil.make_archive(str(home / "packed"), "zip", home, folder.name))
    splits = open_folder(path, size=16, progress=False)
    assert {name: split.ids for name, split in splits.items()} == {
        "train": ("1", "3"),
        "val": ("10",),
        "test": ("2",),
    }
    said = [splits["train"].captions(i)[0].text for i in range(2)]
    assert said == ["bill_cone wing_blue tail_forked", "wing_blue size_large"]
    assert splits["val"].captions(0) == splits["train"].captions(1)
    assert splits["test"].images([0]).shape == (1, 16, 16, 3)


def test_a_caption_is_the_nine_attributes_furthest_above_their_mean(folder: Path) -> None:
    rng = np.random.default_rng(0)
    seen = rng.integers(0, 101, (5, 40))
    rows = [" ".join(map(str, row)) for row in seen.tolist()]
    (folder / PERCENTAGES).write_text("\n".join(rows), "utf-8")
    names = "".join(f"{k + 1} has_part_color::{k:02d}\n" for k in range(40))
    (folder / "attributes.txt").write_text(names, "utf-8")
    train = open_folder(folder, progress=False)["train"]
    for image, number in ((0, 0), (1, 1)):
        words = train.captions(image)[0].text.split()
        chosen = [int(word.removeprefix("part_")) for word in words]
        assert len(chosen) == 9
        assert chosen == sorted(chosen)
        above = seen - seen.mean(0)
        others = [k for k in range(40) if k not in chosen and seen[number, k] > 50]
        assert others  # so that there was a choice
        assert all(seen[number, chosen] > 50)
        assert above[number, chosen].min() >= above[number, others].max()


@pytest.mark.parametrize(
    ("attribute", "word"),
    [
        ("has_wing_color::blue", "wing_blue"),
        ("has_wing_shape::rounded-wings", "wing_rounded"),
        ("has_upper_tail_color::grey", "upper_tail_grey"),
        ("has_size::very_small_(3_-_5_in)", "size_very_small"),
        ("has_shape::owl-like", "shape_owl-like"),
        ("has_bill_length::longer_than_head", "bill_longer_than_head"),
    ],
)
def test_an_attribute_is_one_word(attribute: str, word: str) -> None:
    assert cub.word(attribute) == word


@pytest.mark.parametrize(
    ("file", "text", "line", "kind", "message"),
    [
        ("images.txt", FILES["images.txt"] + "4\n", 5, "malformed line", "expected 2 columns, found 1"),
        ("images.txt", FILES["images.txt"].replace("x.png", "z.png", 1), 1, "missing image",
         "there is no file images/a/z.png"),
        ("images.txt", FILES["images.txt"] + "2 b/z.png\n", 5, "duplicate id", "'2' stands already at"),
        ("images.txt", FILES["images.txt"] + "5 b/z.png\n", 5, "missing line",
         "the image '5' has no line in image_class_labels.txt and train_test_split.txt. Add it"),
        ("train_test_split.txt", FILES["train_test_split.txt"] + "7 1\n", 5, "missing line",
         "the image '7' has no line in images.txt and image_class_labels.txt"),
        ("image_class_labels.txt", "1 1\n2 1\n3 3\n10 2\n", 3, "unknown class",
         f"there is no class '3': {PERCENTAGES} has 2 lines. Mend the label"),
    ],
)  # fmt: skip
def test_a_bad_line(folder: Path, file: str, text: str, line: int, kind: str, message: str) -> None:
    (folder / file).write_text(text, "utf-8")
    found = strict(folder)
    assert message in found
    assert f"{folder / file}:{line}: " in found
    opened = open_folder(folder, skip_bad=True, progress=False)
    assert [(f.kind, f.where) for f in opened.skipped] == [(kind, f"{folder / file}:{line}")]


def test_a_bad_split_leaves_an_image_without_one(folder: Path) -> None:
    path = folder / "train_test_split.txt"
    path.write_text("1 1\n2 0\n3 train\n10 1\n", "utf-8")
    assert f"{path}:3: expected 0 or 1 after '3', found 'train'. Mend the line" in strict(folder)
    opened = open_folder(folder, skip_bad=True, progress=False)
    assert [(flaw.kind, flaw.where) for flaw in opened.skipped] == [
        ("malformed line", f"{path}:3"),
        ("missing line", f"{folder / 'images.txt'}:3"),
    ]


def test_a_class_of_which_nothing_is_seen(folder: Path) -> None:
    (folder / PERCENTAGES).write_text("50 50 0 0\n10 60 90 50\n", "utf-8")
    assert f"{folder / 'images.txt'}:1: " in strict(folder)
    assert "a caption of 'a/x.png' is empty" in strict(folder)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("attributes.txt", "1 has_a::b\n2\n", ":2: expected 2 columns, found 1. Mend the line."),
        ("attributes.txt", "1 has_a::b\n3 has_a::c\n", ":2: expected 2 and an attribute such as "
         "has_bill_shape::cone, found 3 has_a::c. Copy the file again."),
        ("attributes.txt", "1 Bald\n", ":1: expected 1 and an attribute such as"),
        ("attributes.txt", "1 has_a_color::b\n2 has_a_shape::b\n",
         ":2: has_a_shape::b would be the word 'a_b', as attribute 1 is. Rename one of them."),
        (PERCENTAGES, "1 2 3 4\n1 2 3\n", ":2: expected 4 percentages, one an attribute, found 3 numbers"),
        (PERCENTAGES, "1 2 3 101\n", ":1: expected 4 percentages, one an attribute, found 4 numbers "
         "from 1 to 101. Copy the file again."),
        (PERCENTAGES, "1 nan 3 4\n", ":1: expected 4 percentages"),
        (PERCENTAGES, "1 2 3 much\n", ":1: could not convert string to float: 'much'. Copy the file"),
        (PERCENTAGES, "\n", ": the file is empty. Copy it again."),
    ],
)  # fmt: skip
def test_bad_attributes_cannot_be_skipped(folder: Path, file: str, text: str, message: str) -> None:
    (folder / file).write_text(text, "utf-8")
    found = strict(folder)
    assert f"{folder / file}{message}" in found
    assert "--skip-bad" not in found
    with pytest.raises(PolymodalError):
        open_folder(folder, skip_bad=True, progress=False)


@pytest.mark.parametrize("file", [name for name in FILES if name != "image_class_labels.txt"])
@pytest.mark.parametrize("pack", [False, True])
def test_a_file_that_is_not_there(folder: Path, file: str, pack: bool) -> None:
    (folder / file).unlink()
    path = folder
    if pack:
        path = Path(shutil.make_archive(str(folder.parent / "packed"), "zip", folder))
    assert f"{path}: CUB-200-2011 lacks {file}. Copy it from the dataset." in strict(path)


@pytest.mark.skipif(not CUB.exists(), reason=f"{CUB.name} is not beside the repository")
def test_all_of_cub() -> None:
    splits = open_folder(CUB, size=32, progress=False)
    assert {name: len(split) for name, split in splits.items()} == {
        "train": 5380,
        "val": 614,
        "test": 5794,
    }
    train = splits["train"]
    words = words_of(train)
    assert (len(words), words.length) == (183, 9)
    assert ImageTexts(splits["test"], words).texts.shape == (5794, 1, 9)
    assert len({train.captions(i) for i in range(len(train))}) == 196  # of 200 classes
    place = next(i for i, item in enumerate(train.items) if "Laysan_Albatross" in item.name)
    assert "bill_hooked_seabird" in train.captions(place)[0].text
    assert train.images([0, place]).shape == (2, 32, 32, 3)
