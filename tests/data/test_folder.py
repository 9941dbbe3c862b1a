"""Folders of images with captions: the same records from every format, and every flaw named."""

import json
import pickle
import shutil
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import Folder, open_folder, split_of

COCO = Path(__file__).parents[3] / "shared" / "data" / "coco-karpathy-4k-224.zip"
COLOURS = {"red.png": (255, 0, 0), "green.png": (0, 255, 0), "blue.jpg": (0, 0, 254)}
CSV = """image,caption,split
red.png,a red square,train
red.png,"red, all of it",train
green.png,a green square,val
blue.jpg,a blue square,test
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images, in the folder's own `images`, and no captions yet."""
    images = tmp_path / "data" / "images"
    images.mkdir(parents=True)
    for name, colour in COLOURS.items():
        Image.new("RGB", (40, 30), colour).save(images / name, quality=100)
    return tmp_path / "data"


def opened(folder: Path, **options: bool) -> Folder:
    return open_folder(folder, size=16, progress=False, **options)


def as_csv(folder: Path) -> None:
    (folder / "captions.csv").write_text(CSV, "utf-8")


def as_jsonl(folder: Path) -> None:
    lines = [
        {"image": "red.png", "captions": ["a red square", "red, all of it"], "split": "train"},
        {"image": "green.png", "caption": "a green square", "split": "val"},
        {"image": "blue.jpg", "caption": "a blue square", "split": "test", "id": None},
    ]
    text = "\n\n".join(json.dumps(line) for line in lines)
    (folder / "captions.jsonl").write_text(text, "utf-8")


def as_coco(folder: Path) -> None:
    (folder / "annotations").mkdir()
    for split, year, name, captions in (
        ("train", "2017", "red.png", ["a red square", "red, all of it"]),
        ("val", "2017", "green.png", ["a green square"]),
        ("test", "", "blue.jpg", ["a blue square"]),
    ):
        content = {
            "images": [{"id": name, "file_name": name}],
            "annotations": [{"image_id": name, "caption": caption} for caption in captions],
        }
        path = folder / "annotations" / f"captions_{split}{year}.json"
        path.write_text(json.dumps(content), "utf-8")
        if split == "train":  # the images of one split in COCO's own place
            (folder / "train2017").mkdir()
            shutil.move(folder / "images" / name, folder / "train2017" / name)


def as_karpathy(folder: Path) -> None:
    images = [
        ("red.png", "restval", ["a red square", "red, all of it"]),
        ("green.png", "val", ["a green square"]),
        ("blue.jpg", "test", ["a blue square"]),
    ]
    content = [
        {
            "filename": name,
            "filepath": "images",
            "split": split,
            "cocoid": name,
            "sentences": [{"raw": caption} for caption in captions],
        }
        for name, split, captions in images
    ]
    (folder / "dataset_own.json").write_text(json.dumps({"images": content}), "utf-8")


WRITERS = [as_csv, as_jsonl, as_coco, as_karpathy]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("pack", ["folder", "zip", "zip of a folder"])
def test_every_format_gives_the_same_records(
    folder: Path, write: Callable[[Path], None], pack: str
) -> None:
    write(folder)
    path = folder
    if pack != "folder":
        inner = folder if pack == "zip" else folder.parent
        base = None if pack == "zip" else "data"
        path = Path(shutil.make_archive(str(folder.parent / "packed"), "zip", inner, base))
    splits = opened(path)
    assert list(splits) == ["train", "val", "test"]
    assert splits.skipped == ()
    record = splits["train"][0]
    assert record.id == "red.png"
    assert [caption.text for caption in record.captions] == ["a red square", "red, all of it"]
    assert record.captions == splits["train"].captions(0)
    assert record.image.shape == (16, 16, 3)
    assert (record.image == COLOURS["red.png"]).all()
    images = splits["test"].images([0, 0])
    assert images.shape == (2, 16, 16, 3)
    assert np.abs(images.astype(int) - COLOURS["blue.jpg"]).max() <= 3
    reference = folder.parent / "reference"
    shutil.copytree(folder, reference)
    for file in [*reference.glob("*.json*"), *reference.glob("annotations/*")]:
        file.unlink()
    as_csv(reference)
    for home in reference.glob("train2017"):
        shutil.copytree(home, reference / "images", dirs_exist_ok=True)
    assert splits["train"].fingerprint == opened(reference)["train"].fingerprint


def test_a_fingerprint_is_of_what_is_learned_from(folder: Path) -> None:
    as_csv(folder)
    one = open_folder(folder, size=16, progress=False)["train"].fingerprint
    assert one != open_folder(folder, size=17, progress=False)["train"].fingerprint
    (folder / "captions.csv").write_text(CSV.replace("a red", "one red"), "utf-8")
    assert one != opened(folder)["train"].fingerprint


def test_a_folder_without_splits_is_split_by_id(folder: Path) -> None:
    (folder / "captions.csv").write_text("image,caption\nred.png,a\ngreen.png,b\nblue.jpg,c\n")
    found = {
        split.ids[i]: name for name, split in opened(folder).items() for i in range(len(split))
    }
    assert found == {name: split_of(name) for name in COLOURS}


def test_the_split_by_id_is_80_10_10() -> None:
    found = [split_of(str(number)) for number in range(20_000)]
    assert abs(found.count("train") / 20_000 - 0.8) < 0.01
    assert abs(found.count("val") / 20_000 - 0.1) < 0.01


def test_one_split_can_be_asked_for(folder: Path) -> None:
    as_csv(folder)
    (folder / "images" / "blue.jpg").unlink()  # of another split: nobody looks
    assert list(open_folder(folder, splits=["train"], progress=False)) == ["train"]
    with pytest.raises(PolymodalError, match=r"Unknown split 'trian'. Did you mean 'train'"):
        open_folder(folder, splits=["trian"])


def test_a_split_without_images_is_named(folder: Path) -> None:
    (folder / "captions.csv").write_text("image,caption,split\nred.png,a,train\n")
    with pytest.raises(PolymodalError, match="the split 'val' has no images"):
        open_folder(folder, splits=["train", "val"], progress=False)


def test_a_byte_order_mark_and_quoted_lines(folder: Path) -> None:
    text = 'image,caption\r\nred.png,"a red\r\nsquare"\r\ngreen.png,b,c\r\n'
    (folder / "captions.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    with pytest.raises(PolymodalError, match=r"captions.csv:4: expected 2 columns"):
        opened(folder)


def test_threads_and_copies_share_a_zip(folder: Path) -> None:
    as_csv(folder)
    path = shutil.make_archive(str(folder.parent / "packed"), "zip", folder)
    split = pickle.loads(pickle.dumps(opened(Path(path))["train"]))
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(split.images([0] * 20))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all((result == COLOURS["red.png"]).all() for result in results)


def test_an_image_that_goes_away_is_named(folder: Path) -> None:
    as_csv(folder)
    split = opened(folder)["train"]
    (folder / "images" / "red.png").unlink()
    with pytest.raises(PolymodalError, match=r"red.png: could not be read.*Open the folder again"):
        split.images([0])


@pytest.mark.skipif(not COCO.exists(), reason=f"{COCO.name} is not beside the repository")
def test_karpathys_coco() -> None:
    splits = open_folder(COCO, progress=False)
    assert {name: len(split) for name, split in splits.items()} == {
        "train": 2907,
        "val": 500,
        "test": 1000,
    }
    test = splits["test"]
    moped = test.ids.index("391895")
    assert (
        test.captions(moped)[0].text == "A man with a red helmet on a small moped on a dirt road."
    )
    assert test.images([moped, 0]).shape == (2, 224, 224, 3)


def test_an_encrypted_or_broken_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    path.write_bytes(b"PK no")
    with pytest.raises(PolymodalError, match="not a whole zip file"):
        open_folder(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("captions.csv", "image,caption\n")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(PolymodalError, match="encrypted"):
        open_folder(path)


def test_an_image_that_the_zip_has_lost_is_named(folder: Path) -> None:
    as_csv(folder)
    path = Path(shutil.make_archive(str(folder.parent / "packed"), "zip", folder))
    with zipfile.ZipFile(path) as archive:
        lost = next(info for info in archive.infolist() if info.filename.endswith("red.png"))
    content = bytearray(path.read_bytes())
    content[lost.header_offset : lost.header_offset + 4] = b"lost"
    path.write_bytes(content)
    with pytest.raises(PolymodalError, match=r"red\.png.*the zip is damaged there"):
        opened(path)


def test_a_wrong_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolymodalError, match="there is no such folder"):
        open_folder(tmp_path / "nowhere")
    (tmp_path / "captions.csv").write_text("image,caption\n")
    with pytest.raises(PolymodalError, match=r"found a file. Give its folder"):
        open_folder(tmp_path / "captions.csv")
    with pytest.raises(PolymodalError, match="at least 1 pixel"):
        open_folder(tmp_path, size=0)
