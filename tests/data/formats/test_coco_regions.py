"""COCO's instances with their captions, in files as COCO has them, and every flaw named."""

import gc
import json
import shutil
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.pairs import captions_of_each
from polymodal.data.region_folder import open_coco
from polymodal.data.sources import open_splits

LAYOUTS = Path(__file__).parents[4] / "shared" / "data" / "coco-layouts-128.zip"

Content = dict[str, Any]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))


def instances() -> Content:
    """Two images, the second without a box."""
    return {
        "images": [
            {"id": 7, "file_name": "000007.png", "width": 64, "height": 32},
            {"id": 8, "file_name": "000008.png", "width": 32, "height": 64},
        ],
        "annotations": [
            {"image_id": 7, "category_id": 3, "bbox": [-0.0, 8, 32, 16.0], "iscrowd": 0},
            {"image_id": 7, "category_id": 90, "bbox": [0, 0, 64.4, 32], "iscrowd": 1},
        ],
        "categories": [{"id": 3, "name": "car"}, {"id": 90, "name": "toothbrush"}],
    }


def write(folder: Path, content: Content | None = None) -> Path:
    (folder / "annotations").mkdir(parents=True)
    (folder / "train2017").mkdir()
    text = json.dumps(content or instances())
    (folder / "annotations" / "instances_train2017.json").write_text(text, "utf-8")
    said = {
        "annotations": [{"image_id": 7, "caption": "a car"}, {"image_id": 7, "caption": "a van"}]
    }
    (folder / "annotations" / "captions_train2017.json").write_text(json.dumps(said), "utf-8")
    Image.new("RGB", (64, 32)).save(folder / "train2017" / "000007.png")
    Image.new("RGB", (32, 64)).save(folder / "train2017" / "000008.png")
    return folder


def test_boxes_come_with_captions_where_there_are_some(tmp_path: Path) -> None:
    train = open_splits(f"coco:{write(tmp_path / 'coco')},size=128")["train"]
    assert [*train.ids] == ["7", "8"]
    first, second = train
    assert [(r.label, r.box, r.attributes) for r in first.regions] == [
        ("car", (0.0, 48.0, 64.0, 80.0), {}),
        ("toothbrush", (0.0, 32.0, 128.0, 96.0), {"crowd": True}),
    ]
    assert [caption.text for caption in first.captions] == ["a car", "a van"]
    assert (second.regions, second.captions, "captions" in second) == ((), (), False)
    assert first["file"].endswith("train2017/000007.png")


def test_images_without_a_caption_can_be_left_out(tmp_path: Path) -> None:
    spec = f"coco:{write(tmp_path / 'coco')},size=16"
    assert [*open_splits(f"{spec},captioned=yes")["train"].ids] == ["7"]
    with pytest.raises(
        PolymodalError, match=r"but 1 of 2 have none, first 8\. Leave them out: with co"
    ):
        captions_of_each(open_splits(spec)["train"])
    with pytest.raises(PolymodalError, match="captioned is yes or no, not 'maybe'"):
        open_splits(f"{spec},captioned=maybe")


def test_instances_alone_with_images_elsewhere(tmp_path: Path) -> None:
    folder = write(tmp_path / "coco")
    (folder / "annotations" / "captions_train2017.json").unlink()
    (folder / "train2017").rename(tmp_path / "photos")
    with pytest.raises(PolymodalError, match=r"there is no file 000007\.png or images/000007\.png"):
        open_coco(folder, progress=False)
    train = open_coco(folder, images=str(tmp_path / "photos"), progress=False)["train"]
    assert [*train.columns] == ["image", "file", "regions", "layout"]
    with pytest.raises(PolymodalError, match="Unknown option of coco: 'split'"):
        open_splits(f"coco:{folder},split=entities")


def with_stuff(folder: Path, **changes: Any) -> Path:
    """The same folder with annotations of stuff of its first image."""
    content = {
        "annotations": [
            {"image_id": 7, "category_id": 183, "bbox": [0, 0, 64, 32]},
            {"image_id": 7, "category_id": 124, "bbox": [0, 16, 64, 16]},
        ],
        "categories": [{"id": 124, "name": "grass"}, {"id": 183, "name": "other"}],
    }
    text = json.dumps(content | changes)
    (folder / "annotations" / "stuff_train2017.json").write_text(text, "utf-8")
    return folder


def test_stuff_joins_the_instances_where_it_is_asked_for(tmp_path: Path) -> None:
    folder = with_stuff(write(tmp_path / "coco"))
    assert len(open_splits(f"coco:{folder},size=64")["train"][0].regions) == 2
    [record] = open_splits(f"coco:{folder},size=64,stuff=yes")["train"]
    assert [(region.label, region.box) for region in record["layout"]] == [
        ("car", (0.0, 24.0, 32.0, 40.0)),
        ("toothbrush", (0.0, 16.0, 64.0, 48.0)),
        ("grass", (0.0, 32.0, 64.0, 48.0)),
    ]


def test_bad_stuff_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "coco")
    with pytest.raises(
        PolymodalError, match=r"there is no annotations/stuff_train2017\.json beside it"
    ):
        open_coco(folder, stuff=True, progress=False)
    box = {"image_id": 7, "category_id": 124, "bbox": [0, 16, 164, 16]}
    with_stuff(folder, annotations=[box])
    with pytest.raises(
        PolymodalError, match=r"stuff_train2017\.json: annotations\[0\]: the box 0 16 164"
    ):
        open_coco(folder, stuff=True, progress=False)
    with_stuff(folder, annotations=[{**box, "category_id": 3, "bbox": [0, 0, 9, 9]}])
    with pytest.raises(PolymodalError, match=r"annotations\[0\]: no category has the id 3"):
        open_coco(folder, stuff=True, progress=False)


def test_pictures_can_be_stretched_to_squares(tmp_path: Path) -> None:
    folder = write(tmp_path / "coco")
    Image.new("RGB", (64, 32), "white").save(folder / "train2017" / "000007.png")
    first, second = open_splits(f"coco:{folder},size=16,squash=yes")["train"]
    assert (first.image == 255).all() and second.image.shape == (16, 16, 3)
    assert [region.box for region in first.regions] == [
        (0.0, 4.0, 8.0, 12.0),
        (0.0, 0.0, 16.0, 16.0),
    ]


def set_to(path: str, value: Any) -> Callable[[Content], None]:
    """Change a value at a path of keys and positions; None takes the key out."""
    *keys, last = (int(key) if key.isdecimal() else key for key in path.split("."))

    def spoil(content: Content) -> None:
        inner: Any = content
        for key in keys:
            inner = inner[key]
        if value is None:
            del inner[last]
        else:
            inner[last] = value

    return spoil


FLAWS = [
    (set_to("annotations.0.bbox", [1, 2, 3]), "malformed entry", "annotations[0]",
     "'bbox' should be x, y, width and height, but is [1, 2, 3]"),
    (set_to("annotations.0.bbox", [1, 2, 3, True]), "malformed entry", "annotations[0]", "'bbox' should"),
    (set_to("annotations.0.bbox", [1, 2, 0, 3]), "inverted box", "annotations[0]", "1 2 1 5 ends before"),
    (set_to("annotations.0.bbox", [60, 2, 6, 3]), "box outside the picture", "annotations[0]",
     "the box 60 2 66 5 does not lie in the picture of 64×32 pixels"),
    (set_to("annotations.0.bbox", [float("inf"), 2, 6, 3]), "inverted box", "annotations[0]", "inf"),
    (set_to("annotations.0.category_id", 4), "unknown category", "annotations[0]",
     "no category has the id 4. Add it to 'categories'"),
    (set_to("annotations.0.image_id", 9), "box without image", "annotations[0]", "no image has the id 9"),
    (set_to("annotations.0.category_id", None), "malformed entry", "annotations[0]",
     "the key 'category_id' is missing"),
    (set_to("images.1.width", None), "malformed entry", "images[1]", "the key 'width' is missing"),
    (set_to("images.1.height", 0), "malformed entry", "images[1] (id 8)", "size in pixels, found 32×0"),
    (set_to("images.1.id", 7), "duplicate id", "images[1] (id 7)", "Give each image an id"),
    (set_to("images.1.file_name", "../b.png"), "outside the folder", "images[1] (id 8)", "lies outside"),
    (set_to("images.1.height", 32), "sizes disagree", "images[1] (id 8))", "the file has 32×64 pixels"),
    (set_to("categories.0.name", 5), "malformed entry", "categories[0]", "'name' should be a text"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "kind", "where", "message"), FLAWS)
def test_every_flaw_is_named_or_left_out(
    tmp_path: Path, spoil: Callable[[Content], None], kind: str, where: str, message: str
) -> None:
    content = instances()
    spoil(content)
    folder = write(tmp_path / "coco", content)
    with pytest.raises(PolymodalError) as caught:
        open_coco(folder, progress=False)
    assert message in str(caught.value)
    assert f"{where}: " in str(caught.value)
    opened = open_coco(folder, skip_bad=True, progress=False)
    assert (opened.skipped[0].kind, opened.skipped[0].where[-len(where) :]) == (kind, where)
    assert opened["train"].ids[0] == "7"


@pytest.mark.skipif(not LAYOUTS.exists(), reason=f"{LAYOUTS.name} is not beside the repository")
def test_the_real_layouts(tmp_path: Path) -> None:
    """The validation split alone, which is quicker than all."""
    with zipfile.ZipFile(LAYOUTS) as archive:
        for name in ("instances_val.json", "captions_val.json"):
            archive.extract(f"coco-layouts-128/annotations/{name}", tmp_path)
    spec = f"coco:{tmp_path / 'coco-layouts-128'},images={LAYOUTS},size=128"
    val = open_splits(spec)["val"]
    assert (len(val), sum(len(regions) for regions in val.column("regions"))) == (300, 1823)
    captions = [val.captions(place) for place in range(300)]
    assert (sum(map(bool, captions)), sum(map(len, captions))) == (80, 254)
    assert val[0].regions[0].label == "tie"
    assert val[0].regions[0].box == pytest.approx((32.14, 41.42, 50.28, 93.28))


def test_splits_go_when_they_are_let_go(tmp_path: Path) -> None:
    """With them the open zip goes, without a wait for the garbage to be collected."""
    folder = write(tmp_path / "coco")
    split = open_coco(shutil.make_archive(str(folder), "zip", folder), size=16, progress=False)[
        "train"
    ]
    assert split[0]["layout"]
    there = weakref.ref(split)
    gc.disable()
    try:
        del split
        assert there() is None
    finally:
        gc.enable()
