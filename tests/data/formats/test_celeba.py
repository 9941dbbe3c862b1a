"""CelebA's own files: the words of a face, its splits, and everything that can be wrong in them."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import open_folder
from polymodal.data.formats import celeba
from polymodal.data.formats.archive import open_source
from polymodal.data.image_texts import words_of

HEAD = """5_o_Clock_Shadow Arched_Eyebrows Attractive Bags_Under_Eyes Bald Bangs Big_Lips Big_Nose
Black_Hair Blond_Hair Blurry Brown_Hair Bushy_Eyebrows Chubby Double_Chin Eyeglasses Goatee Gray_Hair
Heavy_Makeup High_Cheekbones Male Mouth_Slightly_Open Mustache Narrow_Eyes No_Beard Oval_Face Pale_Skin
Pointy_Nose Receding_Hairline Rosy_Cheeks Sideburns Smiling Straight_Hair Wavy_Hair Wearing_Earrings
Wearing_Hat Wearing_Lipstick Wearing_Necklace Wearing_Necktie Young"""
NAMES = HEAD.split()

FACES = {
    "000001.jpg": {"Male", "Bald", "Smiling", "Young", "No_Beard"},
    "000002.jpg": {"Bangs", "Heavy_Makeup", "Wavy_Hair", "Attractive"},
    "000003.jpg": set(),
    "000004.jpg": {"Eyeglasses"},
}
SAID = {
    "000001.jpg": "Male Smiling Bald",
    "000002.jpg": "Female Bangs Heavy_Makeup Wavy_Hair",
    "000003.jpg": "Female",
    "000004.jpg": "Female Eyeglasses",
}


def row(name: str, has: set[str]) -> str:
    """A line as CelebA's file has it, in columns of two."""
    return f"{name} " + " ".join(" 1" if one in has else "-1" for one in NAMES)


def write(folder: Path, lines: list[str], count: int | None = None) -> Path:
    path = folder / "list_attr_celeba.txt"
    text = "\n".join([str(len(lines) if count is None else count), " ".join(NAMES) + " ", *lines])
    path.write_text(text + "\n", "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four faces, as CelebA has them: 178 × 218."""
    folder = tmp_path / "celeba"
    (folder / "img_align_celeba").mkdir(parents=True)
    for name in FACES:
        Image.new("RGB", (178, 218), (200, 150, 120)).save(folder / "img_align_celeba" / name)
    write(folder, [row(name, has) for name, has in FACES.items()])
    return folder


def partition(folder: Path, text: str) -> Path:
    path = folder / "list_eval_partition.txt"
    path.write_text(text, "utf-8")
    return path


def strict(folder: Path) -> str:
    with pytest.raises(PolymodalError) as caught:
        open_folder(folder, progress=False)
    return str(caught.value)


def skipped(folder: Path) -> list[tuple[str, str]]:
    opened = open_folder(folder, skip_bad=True, progress=False)
    return [(flaw.kind, flaw.where) for flaw in opened.skipped]


@pytest.mark.parametrize("layout", ["flat", "release", "zip"])
def test_words_and_splits(folder: Path, layout: str) -> None:
    partition(folder, "000001.jpg 0\n000002.jpg 1\n000003.jpg 2\n000004.jpg 0\n000005.jpg 2\n")
    path = folder
    if layout == "release":
        for name, home in (
            ("list_attr_celeba.txt", "Anno"),
            ("list_eval_partition.txt", "Eval"),
            ("img_align_celeba", "Img"),
        ):
            (folder / home).mkdir()
            shutil.move(folder / name, folder / home / name)
    if layout == "zip":
        archive = shutil.make_archive(str(folder.parent / "packed"), "zip", folder.parent, "celeba")
        path = Path(archive)
    splits = open_folder(path, size=64, progress=False)
    assert {name: split.ids for name, split in splits.items()} == {
        "train": ("000001.jpg", "000004.jpg"),
        "val": ("000002.jpg",),
        "test": ("000003.jpg",),
    }
    for split in splits.values():
        for i, id in enumerate(split.ids):
            assert [caption.text for caption in split.captions(i)] == [SAID[id]]
    assert splits["train"].images([0, 1]).shape == (2, 64, 64, 3)


def test_the_words_are_the_papers() -> None:
    """004, §5.2: 19 words, and '-' for a blank."""
    assert len(set(celeba.WORDS)) == 19
    assert set(celeba.WORDS) - {"Female"} <= set(NAMES)


def test_without_a_partition_the_split_is_the_papers_in_proportion(folder: Path) -> None:
    splits = open_folder(folder, progress=False)
    assert splits["train"].ids == ("000001.jpg", "000002.jpg", "000003.jpg", "000004.jpg")
    write(folder, [row(f"{i:06d}.jpg", set()) for i in range(1000)])
    entries = list(celeba.read(open_source(folder), "list_attr_celeba.txt"))
    assert [entry.split for entry in entries] == ["train"] * 889 + ["val"] * 111


def test_the_split_of_all_celeba_is_after_180_thousand() -> None:
    assert [celeba._split(place, 202_599) for place in (0, 179_999, 180_000, 202_598)] == [
        "train", "train", "val", "val",
    ]  # fmt: skip


def test_of_more_than_nine_words_the_first_are_said(folder: Path) -> None:
    write(folder, [row("000001.jpg", set(NAMES)), row("000002.jpg", set(NAMES) - {"Male"})])
    train = open_folder(folder, progress=False)["train"]
    most = "Bushy_Eyebrows Male Mouth_Slightly_Open Smiling Bald Bangs Black_Hair Blond_Hair Brown_Hair"
    assert train.captions(0)[0].text == most
    assert train.captions(1)[0].text == most.replace("Male", "Female")
    assert words_of(train).length == celeba.MOST == 9


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (row("000002.jpg", set())[:-3], "malformed line", "expected 40 values after the image, found 39"),
        (row("000002.jpg", set()) + " 1", "malformed line", "found 41. Mend the line"),
        (row("000002.jpg", set()).replace("-1", "0", 1), "malformed line",
         "'5_o_Clock_Shadow' should be 1 or -1, but is '0'"),
        (row("000002.jpg", set())[:-1], "malformed line", "'Young' should be 1 or -1, but is '-'"),
        (row("000009.jpg", set()), "missing image",
         "no file img_align_celeba/000009.jpg or Img/img_align_celeba/000009.jpg"),
        (row("000001.jpg", set()), "duplicate id", "the id '000001.jpg' is already that of"),
    ],
)  # fmt: skip
def test_a_bad_line(folder: Path, line: str, kind: str, message: str) -> None:
    path = write(folder, [row("000001.jpg", set()), line])
    found = strict(folder)
    assert message in found
    assert f"{path}:4: " in found
    assert skipped(folder) == [(kind, f"{path}:4")]


def test_a_truncated_file(folder: Path) -> None:
    path = write(folder, [row("000001.jpg", set())], count=202_599)
    found = strict(folder)
    assert (
        f"{path}:1: the first line promises 202599 images, but 1 follow. Is the file whole?"
        in found
    )
    assert skipped(folder) == [("truncated file", f"{path}:1")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected the number of images, found ''. Is this CelebA's own file?"),
        ("9" * 5000, ":1: expected the number of images, found '999"),
        ("image_id Bald Bangs\n", ":1: expected the number of images, found 'image_id Bald Bangs'"),
        ("3\n", ":2: expected the attribute 'Bushy_Eyebrows' once, found it 0 times in: an empty line"),
        ("3\n" + " ".join(NAMES).replace("Bangs", "Bang"), ":2: expected the attribute 'Bangs' once"),
        ("3\n" + " ".join([*NAMES, "Male"]), ":2: expected the attribute 'Male' once, found it 2 times"),
    ],
)  # fmt: skip
def test_a_bad_head_cannot_be_skipped(folder: Path, text: str, message: str) -> None:
    path = folder / "list_attr_celeba.txt"
    path.write_text(text, "utf-8")
    assert f"{path}{message}" in strict(folder)
    with pytest.raises(PolymodalError):
        open_folder(folder, skip_bad=True, progress=False)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("000004.jpg 3", "malformed line", "expected 0 or 1 or 2 after '000004.jpg', found '3'"),
        ("000004.jpg", "malformed line", "expected 2 columns, found 1. Mend the line"),
        ("000001.jpg 2", "duplicate id", "'000001.jpg' stands already at"),
    ],
)
def test_a_bad_partition(folder: Path, line: str, kind: str, message: str) -> None:
    path = partition(folder, f"000001.jpg 0\n000002.jpg 0\n000003.jpg 0\n{line}\n")
    found = strict(folder)
    assert message in found
    assert f"{path}:4" in found
    rest = ("no split", f"{folder / 'list_attr_celeba.txt'}:6")
    assert skipped(folder) == [(kind, f"{path}:4"), rest]


def test_an_image_that_the_partition_lacks(folder: Path) -> None:
    path = partition(folder, "000001.jpg 0\n000002.jpg 0\n000003.jpg 0\n")
    found = strict(folder)
    assert f"list_attr_celeba.txt:6: '000004.jpg' has no line in {path}. Add one" in found
