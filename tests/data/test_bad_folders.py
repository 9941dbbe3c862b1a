"""Everything that can be wrong in a folder: strict reading names it, `skip_bad` leaves it out."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files as pictures
from polymodal.data.folder import open_folder

GOOD = "good.png,a good image,train\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One good image; a noisy one to break."""
    folder = tmp_path / "data"
    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for name in ("good.png", "other.png", "bad.jpg"):
        Image.fromarray(noise).save(folder / name)
    return folder


def strict(folder: Path) -> str:
    with pytest.raises(PolymodalError) as caught:
        open_folder(folder, progress=False)
    return str(caught.value)


def skipped(folder: Path) -> list[tuple[str, str]]:
    """What is left out; the good image must stay."""
    opened = open_folder(folder, skip_bad=True, progress=False)
    assert opened["train"].ids in (("good.png",), ("1",))
    opened["train"].images([0])
    return [(flaw.kind, flaw.where) for flaw in opened.skipped]


def in_csv(folder: Path, rows: str, header: str = "image,caption,split\n") -> Path:
    path = folder / "captions.csv"
    path.write_text(header + rows, "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        ("good.png\n", "malformed line", "expected 3 columns (image, caption, split), found 1"),
        ("a,b,train,x\n", "malformed line", "in double quotes"),
        ('a,"b,train\n', "malformed line", "broken CSV (unexpected end of data)"),
        ('a,"b" c,train\n', "malformed line", "broken CSV"),
        (",a caption,train\n", "caption without image", "no image is named"),
        ("gone.png,a caption,train\n", "missing image", "no file gone.png or images/gone.png"),
        ("other.png,  ,train\n", "empty caption", "a caption of 'other.png' is empty"),
        ("other.png,a,tset\n", "unknown split", "Unknown split 'tset'. Did you mean 'test'?"),
        ("other.png,a,\n", "no split", "no split, though other entries have one"),
        ("good.png,a,test\n", "two splits", "split 'test', but 'train' at"),
        ("../x.png,a,train\n", "outside the folder", "'../x.png' lies outside the folder"),
        ("a/../../x.png,a,train\n", "outside the folder", "lies outside the folder"),
        ("/etc/x.png,a,train\n", "outside the folder", "'/etc/x.png' lies outside the folder"),
    ],
)
def test_a_bad_row(folder: Path, row: str, kind: str, message: str) -> None:
    path = in_csv(folder, GOOD + row)
    found = strict(folder)
    assert message in found
    assert f"{path}:3" in found
    assert "--skip-bad" in found
    assert skipped(folder) == [(kind, f"{path}:3")]


def test_ids_are_of_one_image_and_images_of_one_id(folder: Path) -> None:
    header = "id,image,caption,split\n"
    path = in_csv(folder, "1,good.png,a,train\n1,other.png,b,train\n", header)
    assert f"{path}:3: the id '1' is already that of {path}:2" in strict(folder)
    assert skipped(folder) == [("duplicate id", f"{path}:3")]
    in_csv(folder, "1,good.png,a,train\n2,good.png,b,train\n", header)
    assert "already has the id '1'" in strict(folder)
    assert skipped(folder) == [("duplicate image", f"{path}:3")]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("image,captoin\n", "Unknown column 'captoin'. Did you mean 'caption'?"),
        ("image,split\n", "expected a header image,caption"),
        ("", "found: an empty line"),
        ("image,caption,id,id\n", "a column stands twice"),
    ],
)
def test_a_bad_header_cannot_be_skipped(folder: Path, header: str, message: str) -> None:
    path = in_csv(folder, "", header)
    assert message in strict(folder)
    assert f"{path}:1: " in strict(folder)
    with pytest.raises(PolymodalError):
        open_folder(folder, skip_bad=True)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ('{"image": "other.png", ', "malformed line", "broken JSON"),
        ("[1]", "malformed line", "expected a JSON object in braces, found a list"),
        ('{"caption": "a"}', "malformed line", "the key 'image' is missing; there are: caption"),
        (
            '{"image": 3, "caption": "a"}',
            "malformed line",
            "'image' should be a text, but is a number",
        ),
        ('{"image": "other.png"}', "malformed line", 'either "caption" (a text) or "captions"'),
        ('{"image": "other.png", "captions": "a"}', "malformed line", "should be a list"),
        ('{"image": "other.png", "captions": [1]}', "malformed line", "a list of texts"),
        ('{"image": "other.png", "caption": null}', "malformed line", "but is null"),
        (
            '{"image": "other.png", "caption": "a", "spilt": "val"}',
            "malformed line",
            "mean 'split'",
        ),
        ('{"image": "other.png", "captions": []}', "image without caption", "has no caption"),
        (
            '{"image": "good.png", "captions": ["b"]}',
            "duplicate id",
            "the id 'good.png' is already",
        ),
    ],
)
def test_a_bad_line_of_json(folder: Path, line: str, kind: str, message: str) -> None:
    path = folder / "captions.jsonl"
    path.write_text(
        '{"image": "good.png", "caption": "a", "split": "train"}\n' + line + "\n", "utf-8"
    )
    found = strict(folder)
    assert message in found
    assert f"{path}:2" in found
    assert skipped(folder) == [(kind, f"{path}:2")]


def test_bad_coco_entries(folder: Path) -> None:
    path = folder / "captions_train2017.json"
    good = {"id": 1, "file_name": "good.png"}
    images = [good, {"id": 2, "file_name": "other.png"}, {"file_name": "x.png"}, good]
    annotations = [
        {"image_id": 1, "caption": "a"},
        {"image_id": 9, "caption": "of nothing"},
        {"image_id": 1},
    ]
    path.write_text(json.dumps({"images": images, "annotations": annotations}))
    assert f"{path}: images[2]: the key 'id' is missing" in strict(folder)
    assert skipped(folder) == [
        ("malformed entry", f"{path}: images[2]"),
        ("caption without image", f"{path}: annotations[1]"),
        ("malformed entry", f"{path}: annotations[2]"),
        ("image without caption", f"{path}: images[1] (id 2)"),
        ("duplicate id", f"{path}: images[3] (id 1)"),
    ]


def test_bad_karpathy_entries(folder: Path) -> None:
    path = folder / "dataset_own.json"
    good = {"filename": "good.png", "split": "train", "imgid": 1, "sentences": [{"raw": "a"}]}
    images = [
        {**good, "imgid": 0, "sentences": [{"tokens": []}]},
        good,
        {**good, "imgid": 3, "filename": "other.png", "sentences": []},
        {"filename": "other.png", "sentences": []},
        {
            **good,
            "imgid": 5,
            "filename": "other.png",
            "filepath": "..",
            "sentences": [{"raw": "a"}],
        },
        {**good, "imgid": 6, "filename": "other.png", "split": "rest"},
        "text",
    ]
    path.write_text(json.dumps({"images": images}))
    assert f"{path}: images[0]: the key 'raw' is missing; there are: tokens" in strict(folder)
    assert skipped(folder) == [
        ("malformed entry", f"{path}: images[0]"),
        ("image without caption", f"{path}: images[2] (id 3)"),
        ("malformed entry", f"{path}: images[3]"),
        ("outside the folder", f"{path}: images[4] (id 5)"),
        ("unknown split", f"{path}: images[5] (id 6)"),
        ("malformed entry", f"{path}: images[6]"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"images": [\n{"a" 1}]}', "dataset_own.json:2: broken JSON at column 6"),
        (b"[]", "expected an object with a list 'images', found: list"),
        (b'{"pictures": []}', "found: pictures"),
        (b'{"images": []}', "dataset_own.json: there is no caption in it. Write some"),
        (b"\n\xe9t\xe9", "dataset_own.json:2: not UTF-8: the byte 0xe9. Save the file as UTF-8"),
    ],
)
def test_a_broken_json_file(folder: Path, content: bytes, message: str) -> None:
    (folder / "dataset_own.json").write_bytes(content)
    assert message in strict(folder)


def test_a_file_of_another_encoding(folder: Path) -> None:
    path = folder / "captions.csv"
    path.write_bytes("image,caption\ngood.png,un été\n".encode("latin1"))
    assert f"{path}:2: not UTF-8: the byte 0xe9" in strict(folder)


def test_no_caption_file_and_too_many(folder: Path) -> None:
    assert "no captions found. Expected one of captions.csv, captions.jsonl" in strict(folder)
    (folder / "captions.csv").write_text("image,caption\n")
    (folder / "dataset_a.json").write_text("{}")
    assert "expected one caption file, found captions.csv, dataset_a.json" in strict(folder)
    (folder / "captions.csv").unlink()
    (folder / "dataset_b.json").write_text("{}")
    assert "found dataset_a.json, dataset_b.json" in strict(folder)


def test_nothing_left_says_why(folder: Path) -> None:
    in_csv(folder, "gone.png,a,train\n")
    with pytest.raises(
        PolymodalError, match=r"no image with a caption is left. 1 were bad.*gone.png"
    ):
        open_folder(folder, skip_bad=True, progress=False)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"", "empty image", "0 bytes"),
        (b"text", "not an image", "Save it as JPEG or PNG"),
    ],
)
def test_an_image_bad_at_first_sight(folder: Path, content: bytes, kind: str, message: str) -> None:
    path = in_csv(folder, GOOD + "bad.jpg,a,train\n")
    (folder / "bad.jpg").write_bytes(content)
    found = strict(folder)
    assert message in found
    assert f"{folder / 'bad.jpg'} (named at {path}:3)" in found
    assert skipped(folder) == [(kind, f"{folder / 'bad.jpg'} (named at {path}:3)")]


def test_an_image_bomb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_csv(folder, GOOD + "bad.jpg,a,train\n")
    Image.new("1", (10_000, 10_000)).save(folder / "bad.jpg", "PNG")
    monkeypatch.setattr(Image.Image, "load", None)  # whoever decodes it fails
    assert "the image would unpack to too much" in strict(folder)
    monkeypatch.undo()
    assert [kind for kind, _ in skipped(folder)] == ["image bomb"]


def test_a_truncated_image_is_found_on_reading_or_skipped_beforehand(folder: Path) -> None:
    in_csv(folder, GOOD + "bad.jpg,a,train\n")
    content = (folder / "bad.jpg").read_bytes()
    (folder / "bad.jpg").write_bytes(content[: len(content) // 2])
    split = open_folder(folder, progress=False)["train"]
    with pytest.raises(PolymodalError, match=r"bad.jpg .*captions.csv:3\): the image is cut off"):
        split.images([0, 1])
    assert [kind for kind, _ in skipped(folder)] == ["truncated image"]


def test_verdicts_are_remembered_until_the_file_changes(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_csv(folder, GOOD + "bad.jpg,a,train\n")
    content = (folder / "bad.jpg").read_bytes()
    (folder / "bad.jpg").write_bytes(content[: len(content) // 2])
    decoded = []
    verify = pictures.verify
    monkeypatch.setattr(pictures, "verify", lambda f, n: (decoded.append(n), verify(f, n)))
    assert [kind for kind, _ in skipped(folder)] == ["truncated image"]
    assert len(decoded) == 2
    assert [kind for kind, _ in skipped(folder)] == ["truncated image"]
    assert len(decoded) == 2
    (folder / "bad.jpg").write_bytes(content)
    assert len(open_folder(folder, skip_bad=True, progress=False)["train"]) == 2
    assert len(decoded) == 3
    for broken in ("{", "[]", '{"good.png": 1}'):
        next(cache.glob("verified/*.json")).write_text(broken)
        assert not open_folder(folder, skip_bad=True, progress=False).skipped


def test_a_cache_that_cannot_be_written_is_told_before_images_are_decoded(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_csv(folder, GOOD)
    cache.touch()
    monkeypatch.setattr(pictures, "verify", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(PolymodalError, match=f"{cache} is a file. Set .* POLYMODAL_CACHE to"):
        open_folder(folder, skip_bad=True, progress=False)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_image(folder: Path) -> None:
    in_csv(folder, GOOD + "bad.jpg,a,train\n")
    (folder / "bad.jpg").chmod(0)
    assert "Check its permissions" in strict(folder)


def test_a_name_that_no_disk_can_hold(folder: Path) -> None:
    in_csv(folder, GOOD + "x" * 5000 + ",a,train\n")
    assert "there is no file xxx" in strict(folder)
