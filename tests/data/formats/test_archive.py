"""Files of a folder or zip: what is too large is refused before it is read."""

import zipfile
from pathlib import Path

import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import open_folder
from polymodal.data.formats import archive

CAPTIONS = ["captions.csv", "captions.jsonl", "captions_train2017.json", "dataset_own.json",
            "list_attr_celeba.txt", "attributes.txt"]  # fmt: skip


def error(path: Path) -> str:
    with pytest.raises(PolymodalError) as caught:
        open_folder(path, progress=False)
    return str(caught.value)


@pytest.mark.parametrize("name", CAPTIONS)
@pytest.mark.parametrize("pack", [False, True])
def test_a_text_file_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pack: bool
) -> None:
    monkeypatch.setattr(archive, "LARGEST_FILE", 2**20)
    files = {name: b"\0" * (2**20 + 1)}
    if name == "attributes.txt":
        files["image_class_labels.txt"] = b"1 1\n"
    path = tmp_path / "data.zip" if pack else tmp_path
    with zipfile.ZipFile(tmp_path / "data.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file, content in files.items():
            packed.writestr(file, content)
            (tmp_path / file).write_bytes(content)
    assert error(path) == (
        f"{path / name}: the file has 1,048,577 bytes unpacked, but at most 1,048,576 are read. Is it "
        "the right file? Divide the data into several folders if so."
    )


def test_what_is_larger_than_a_gibibyte_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "captions.csv").open("wb") as file:
        file.truncate(2**30 + 1)  # takes no room on the disk
    assert "captions.csv: the file has 1,073,741,825 bytes unpacked, but at most" in error(tmp_path)


def test_a_zip_that_lies_about_a_length(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("captions.csv", "image,caption\n" * 1000)
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 24 : central + 28] = (14).to_bytes(4, "little")
    path.write_bytes(content)
    assert "captions.csv: could not be read (Bad CRC-32" in error(path)


def test_a_zip_packed_in_a_way_that_python_cannot_unpack(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("captions.csv", "image,caption\n")
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        content[content.index(mark) + place] = 9  # deflate64, as Windows packs large files
    path.write_bytes(content)
    found = error(path)
    assert "captions.csv: " in found
    assert found.endswith("Unpack the zip and give the folder.")


@pytest.mark.parametrize("name", ["captions.jsonl", "dataset_own.json"])
def test_json_in_utf_16(tmp_path: Path, name: str) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    if name.endswith("l"):
        text = '{"image": "a.png", "caption": "un été", "split": "train"}\n'
    else:
        sentences = '[{"raw": "un été"}]'
        text = (
            f'{{"images": [{{"filename": "a.png", "split": "train", "sentences": {sentences}}}]}}'
        )
    (tmp_path / name).write_text(text, "utf-16")
    assert open_folder(tmp_path, progress=False)["train"].captions(0)[0].text == "un été"
