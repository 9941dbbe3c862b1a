"""Visual Genome in the files that sg2im reads: what is kept by its rules, and every flaw named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.layouts import LayoutRules, classes_of, layouts_of
from polymodal.data.region_folder import open_genome
from polymodal.data.sources import open_splits

WIDE, HIGH = 400, 200
Content = dict[str, Any]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))


def thing(id: int, *names: str, box: tuple[float, ...] = (40, 20, 100, 100)) -> Content:
    x, y, w, h = box
    return {"object_id": id, "names": list(names), "x": x, "y": y, "w": w, "h": h, "synsets": []}


def link(predicate: str, a: int, b: int) -> Content:
    return {
        "relationship_id": 9, "predicate": predicate, "subject": {"object_id": a}, "object": {"object_id": b},
    }  # fmt: skip


def genome() -> Content:
    """Five images: of each, which split and objects. 'tree' and 'man' are common, 'kite' is rare."""
    objects = {
        1: [thing(11, "tree"), thing(12, "guy"), thing(13, "tree", box=(0, 0, 400, 200))],
        2: [thing(21, "kite", "trees"), thing(22, "man"), thing(23, "kite"), thing(24, "man")],
        3: [thing(31, "man"), thing(32, "man"), thing(33, "man", box=(0, 0, 31, 90))],
        4: [thing(41, "man"), thing(42, "tree"), thing(43, "guy")],
        5: [thing(51, "man"), thing(52, "tree"), thing(53, "guy")],
    }
    linked = {
        1: [link("ON ", 11, 12)],
        2: [link("atop", 21, 22), link("under", 22, 23)],
        3: [link("on", 31, 32)],
        4: [link("on", 41, 42)],
        5: [link("ON", 51, 52)],
    }
    return {
        "vg_splits.json": {"train": [1, 2, 3], "val": [4], "test": [5]},
        "image_data.json": [
            {
                "image_id": id,
                "width": WIDE,
                "height": HIGH,
                "url": f"https://x.y/VG_100K_2/{id}.png",
            }
            for id in objects
        ],
        "objects.json": [{"image_id": id, "objects": some} for id, some in objects.items()],
        "relationships.json": [{"image_id": id, "relationships": r} for id, r in linked.items()],
        "object_alias.txt": "man,guy, men\ntree,trees\n",
        "relationship_alias.txt": "on,atop\n",
    }


def write(folder: Path, content: Content | None = None) -> Path:
    (folder / "notes").mkdir(parents=True)
    (folder / "VG_100K_2").mkdir()
    for name, value in (content or genome()).items():
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / "notes" / name).write_text(text, "utf-8")
    for id in range(1, 6):
        Image.new("RGB", (WIDE, HIGH), "red").save(folder / "VG_100K_2" / f"{id}.png")
    return folder


def opened(folder: Path, **options: Any) -> Any:
    few = {"instances": 3, "relationships": 2, "size": 32, "progress": False}
    return open_genome(folder / "notes", images=str(folder), **(few | options))


def test_images_are_kept_by_the_rules_of_sg2im(tmp_path: Path) -> None:
    """3 has two large objects only; 'ON' of 5 is no common predicate, since aliases are for training."""
    splits = opened(write(tmp_path / "vg"))
    assert {name: [*split.ids] for name, split in splits.items()} == {
        "train": ["1", "2"],
        "val": ["4"],
    }
    first, second = splits["train"]
    assert [region.label for region in first.regions] == ["tree", "man", "tree"]
    assert [region.label for region in second.regions] == ["tree", "man", "man"]
    assert first["layout"] == first.regions and first.captions == ()


def test_pictures_and_boxes_are_stretched_to_squares(tmp_path: Path) -> None:
    folder = write(tmp_path / "vg")
    train = open_splits(
        f"vg:{folder / 'notes'},images={folder},size=32,instances=3,relationships=2"
    )["train"]
    assert (train[0].image == (255, 0, 0)).all()
    assert "stretched to a square" in train.rule
    assert [region.box for region in train[0].regions[1:]] == [
        pytest.approx((3.2, 3.2, 11.2, 19.2)), (0, 0, 32, 32)
    ]  # fmt: skip
    rules = LayoutRules(fewest=1, most=3, least_area=0.0)
    assert layouts_of(train, classes_of(train), rules).rows.boxes[0, 0].tolist() == pytest.approx(
        [0.1, 0.1, 0.35, 0.6]
    )


def test_how_often_a_name_must_occur_can_be_said(tmp_path: Path) -> None:
    folder = write(tmp_path / "vg")
    assert classes_of(opened(folder, instances=2)["train"]) == ("kite", "man", "tree")
    with pytest.raises(PolymodalError, match="no picture with annotations is left"):
        open_splits(f"vg:{folder / 'notes'},images={folder},size=32")  # 2,000 by default
    with pytest.raises(PolymodalError, match=r"Unknown option of vg: 'instance'\. Did you mean"):
        open_splits(f"vg:{folder},instance=3")
    with pytest.raises(PolymodalError, match="instances is a whole number, not 'many'"):
        open_splits(f"vg:{folder},instances=many")


def test_small_images_are_left_out(tmp_path: Path) -> None:
    content = genome()
    content["image_data.json"][3]["height"] = 199
    assert [*opened(write(tmp_path / "vg", content))] == ["train"]


def set_to(path: str, value: Any) -> Callable[[Content], None]:
    """Change a value at a path of keys and positions; None takes the key out."""
    name, *keys = path.split(" ")

    def spoil(content: Content) -> None:
        inner: Any = content[name]
        for key in keys[:-1]:
            inner = inner[int(key) if key.isdecimal() else key]
        last = int(keys[-1]) if keys[-1].isdecimal() else keys[-1]
        if value is None:
            del inner[last]
        else:
            inner[last] = value

    return spoil


FLAWS = [
    (set_to("objects.json 0 objects 2 w", 500), "box outside the picture",
     "objects.json: [0].objects[2]", "the box 0 0 500 200 does not lie in the picture of 400×200 pixels"),
    (set_to("objects.json 0 objects 2 w", 0), "inverted box", "objects.json: [0].objects[2]",
     "the box 0 0 0 200 ends before it begins"),
    (set_to("objects.json 0 objects 2 h", -40), "inverted box", "objects.json: [0].objects[2]", "ends"),
    (set_to("objects.json 3 objects 2 x", None), "malformed entry", "objects.json: [3].objects[2]",
     "the key 'x' is missing"),
    (set_to("objects.json 3 objects 2 y", "0"), "malformed entry", "objects.json: [3].objects[2]",
     "'y' should be a number, but is a text"),
    (set_to("objects.json 4 objects 0 names", [3]), "malformed entry", "objects.json: [4].objects[0]",
     "'names' should be a list of texts"),
    (set_to("objects.json 4 objects", 3), "malformed entry", "objects.json: [4]", "should be a list"),
    (set_to("objects.json 4", None), "missing annotation", "vg_splits.json: test",
     "the image 5 is not in objects.json. Add it there"),
    (set_to("image_data.json 4", None), "missing annotation", "vg_splits.json: test",
     "the image 5 is not in image_data.json"),
    (set_to("image_data.json 3 url", None), "malformed entry", "image_data.json: [3]", "'url' is missing"),
    (set_to("image_data.json 3 url", "https://x.y/VG_100K_2/40.png"), "missing image",
     "image_data.json: [3] (image 4)", "there is no file VG_100K_2/40.png"),
    (set_to("image_data.json 3 height", 400), "sizes disagree", "image_data.json: [3] (image 4))",
     "the file has 400×200 pixels, but its boxes are in a picture of 400×400"),
    (set_to("relationships.json 3 relationships 0", {}), "malformed entry",
     "relationships.json: [3].relationships[0]", "the key 'predicate' is missing"),
    (set_to("relationships.json 3 relationships 0 subject", {}), "malformed entry",
     "relationships.json: [3].relationships[0]", "the key 'object_id' is missing"),
    (set_to("vg_splits.json test", [4]), "duplicate id", "image_data.json: [3] (image 4)", "the id '4' is"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "kind", "where", "message"), FLAWS)
def test_every_flaw_is_named_or_left_out(
    tmp_path: Path, spoil: Callable[[Content], None], kind: str, where: str, message: str
) -> None:
    content = genome()
    spoil(content)
    folder = write(tmp_path / "vg", content)
    with pytest.raises(PolymodalError) as caught:
        opened(folder)
    assert message in str(caught.value)
    assert f"{where}: " in str(caught.value)
    found = opened(folder, skip_bad=True)
    assert (found.skipped[0].kind, found.skipped[0].where[-len(where) :]) == (kind, where)
    assert "2" in found["train"].ids


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("objects.json", "[", r"objects\.json:1: broken JSON at column 2"),
        ("objects.json", "{}", r"objects\.json: expected a list with an object for each image, found dict"),
        ("vg_splits.json", "[]", r"vg_splits\.json: expected an object with a list 'train', found: list"),
        ("vg_splits.json", '{"train": [1, "2"]}', r"vg_splits\.json: train: expected a list of the numbers"),
        ("object_alias.txt", None, r"there is no object_alias\.txt\. Expected the files that sg2im reads"),
    ],
)  # fmt: skip
def test_broken_files_are_named(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    folder = write(tmp_path / "vg")
    (folder / "notes" / name).unlink()
    if text is not None:
        (folder / "notes" / name).write_text(text, "utf-8")
    with pytest.raises(PolymodalError, match=message):
        opened(folder)
