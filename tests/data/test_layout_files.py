"""Layouts that a person writes: read as they are meant, and every mistake named."""

import json
from pathlib import Path

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.layout_files import LIKE, read_layout, write_layout
from polymodal.data.layout_record import Layout

CUBE = {"label": "red metal cube", "box": [0.1, 0.2, 0.4, 0.6]}


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "layout.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_boxes_are_in_sides_of_the_picture(tmp_path: Path) -> None:
    layout = read_layout(
        written(tmp_path, {"objects": [CUBE, {"label": " ä ", "box": [0, 0, 1, 1]}]})
    )
    assert layout.labels == ("red metal cube", "ä")
    assert layout.boxes.dtype == np.float32
    assert np.allclose(layout.boxes, [[0.1, 0.2, 0.4, 0.6], [0, 0, 1, 1]])


def test_with_a_size_boxes_are_in_pixels(tmp_path: Path) -> None:
    content = {"size": [200, 100], "objects": [{"label": "dog", "box": [50, 10, 200.1, 100]}]}
    assert np.allclose(read_layout(written(tmp_path, content)).boxes, [[0.25, 0.1, 1, 1]])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    boxes = np.random.default_rng(0).random((5, 4), np.float32) / 2 + np.array([0, 0, 0.5, 0.5])
    layout = Layout(("a", "b", 'ç "d"', "e", "a"), boxes.astype(np.float32))
    write_layout(tmp_path / "again.json", layout)
    again = read_layout(tmp_path / "again.json")
    assert again.labels == layout.labels and np.allclose(again.boxes, layout.boxes, atol=1e-6)
    assert len((tmp_path / "again.json").read_text("utf-8").splitlines()) == 7


def test_the_example_in_the_messages_is_a_layout(tmp_path: Path) -> None:
    assert read_layout(written(tmp_path, LIKE)).labels == ("red metal cube",)


FLAWS = [
    ('{"objects": [', r"layout\.json:1: broken JSON at column 14"),
    ("[" * 100_000, "broken JSON"),
    ([CUBE], "expected a JSON object in braces, found a list. A layout looks like"),
    ({}, "the key 'objects' is missing; there are: none"),
    ({"objects": {}}, "'objects' should be a list, but is an object"),
    ({"objects": []}, "'objects' is empty. Give one object at least"),
    ({"objects": [CUBE], "Size": [1, 1]}, "Unknown key 'Size'. Did you mean 'size'?"),
    ({"objects": [CUBE], "size": 64}, "'size' should be [width, height] in pixels"),
    ({"objects": [CUBE], "size": [64, 0]}, "whole numbers of 1 or more, but is [64, 0]"),
    ({"objects": [CUBE], "size": [64.5, 3]}, "but is [64.5, 3]"),
    ({"objects": [CUBE, "cube"]}, "object 2: expected a JSON object in braces, found a text"),
    ({"objects": [{"box": [0, 0, 1, 1]}]}, "object 1: the key 'label' is missing"),
    ({"objects": [{"label": 3, "box": [0, 0, 1, 1]}]}, "'label' should be a text, but is a number"),
    ({"objects": [{"label": " ", "box": [0, 0, 1, 1]}]}, "object 1: 'label' is empty. Say what"),
    ({"objects": [{"label": "a", "bbox": [0, 0, 1, 1]}]}, "the key 'box' is missing"),
    ({"objects": [{**CUBE, "colour": "red"}]}, "object 1: Unknown key 'colour'. Known: box, label"),
    ({"objects": [{"label": "a", "box": "0 0 1 1"}]}, "'box' should be a list, but is a text"),
    ({"objects": [{"label": "a", "box": [0, 0, 1]}]}, "four numbers x0, y0, x1, y1, but is [0, 0, 1]"),
    ({"objects": [{"label": "a", "box": [0, 0, 1, "1"]}]}, 'but is [0, 0, 1, "1"]'),
    ({"objects": [{"label": "a", "box": [0, 0, 1, True]}]}, "but is [0, 0, 1, true]"),
    ({"objects": [{"label": "a", "box": [0, 0, 1, 10**400]}]}, "but is [0, 0, 1, 1000"),
    ({"objects": [{"label": "a", "box": [0, 0, 1, float("nan")]}]}, "but is [0, 0, 1, NaN]"),
    ({"objects": [CUBE, {"label": "a", "box": [0.5, 0, 0.2, 1]}]},
     "object 2 (a): the box 0.5 0 0.2 1 ends before it begins: x0 must be less than x1"),
    ({"objects": [{"label": "a", "box": [-0.1, 0, 0.2, 1]}]}, "whose sides are 1. Mend it."),
    ({"objects": [{"label": "a", "box": [10, 20, 30, 40]}]},
     'whose sides are 1. For boxes in pixels add "size": [width, height].'),
    ({"size": [64, 32], "objects": [{"label": "a", "box": [10, 20, 30, 40]}]},
     "object 1 (a): the box 10 20 30 40 does not lie in the picture of 64×32 pixels. Mend it."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), FLAWS)
def test_every_mistake_is_named(tmp_path: Path, content: object, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(PolymodalError) as caught:
        read_layout(path)
    assert message.replace("\\", "") in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        PolymodalError, match=r"none\.json: there is no such file\. Write one, for ex"
    ):
        read_layout(tmp_path / "none.json")


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "layout.json").write_bytes(b'{"objects": "\xe9"}')
    with pytest.raises(PolymodalError, match=r"layout\.json:1: not UTF-8"):
        read_layout(tmp_path / "layout.json")
