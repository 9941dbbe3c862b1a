"""Layouts of datasets as padded rows: what is kept, what is left out, and every flaw named."""

from pathlib import Path

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Parts, Stored
from polymodal.data.drawn import scenes as worlds
from polymodal.data.layout_examples import LayoutExamples
from polymodal.data.layout_record import Layout
from polymodal.data.layouts import LayoutRules, classes_of, layouts_of, rows_of
from polymodal.data.records import Dataset, Region
from polymodal.data.sources import open_splits

REAL = Path(__file__).parents[3] / "shared" / "data" / "coco-layouts-128.zip"
WIDE, HIGH = 40, 20
DOG = ("dog", (0, 0, 20, 10))
CAT = ("cat", (20.0, 5.0, 40.0, 20.0))
FLY = ("fly", (0, 0, 2, 1))  # 1 in 400
EVERY = LayoutRules(fewest=1, most=3, least_area=0.0)


def table(*items: list | None, name: str = "layout") -> Dataset:
    """A split whose pictures are of one colour each, the brighter the later."""
    n = len(items)
    pictures = np.full((n, HIGH, WIDE, 3), np.arange(n)[:, None, None, None], np.uint8)
    regions = [None if some is None else tuple(Region(*one) for one in some) for some in items]
    return Dataset(
        {"image": Stored(pictures), name: Each.of(regions)}, ids=[f"item {k}" for k in range(n)]
    )


@pytest.mark.parametrize("name", ["layout", "regions"])
def test_rows_are_padded_and_in_sides_of_the_picture(name: str) -> None:
    data = table([DOG, CAT], [CAT], name=name)
    assert classes_of(data) == ("cat", "dog")
    chosen = layouts_of(data, ("cat", "cow", "dog"), EVERY)
    assert chosen.rows.boxes.dtype == np.float32
    assert chosen.rows.boxes.tolist() == [
        [[0, 0, 0.5, 0.5], [0.5, 0.25, 1, 1], [0, 0, 0, 0]],
        [[0.5, 0.25, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
    ]
    assert chosen.rows.classes.tolist() == [[2, 0, 0], [0, 0, 0]]
    assert chosen.rows.there.tolist() == [[True, True, False], [True, False, False]]
    assert str(chosen) == "2 layouts"
    back = chosen.rows.layout(0, ("cat", "cow", "dog"))
    assert back.labels == ("dog", "cat") and np.array_equal(back.boxes, chosen.rows.boxes[0, :2])


def test_small_objects_go_before_objects_are_counted() -> None:
    data = table([DOG, FLY], [DOG, CAT, FLY], [DOG, CAT, DOG, CAT], [], None, [CAT, DOG, DOG])
    rules = LayoutRules(fewest=2, most=3, least_area=1 / 400)
    chosen = layouts_of(data, ("cat", "dog"), rules)
    assert chosen.items.tolist() == [1, 5]
    assert chosen.rows.classes.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert dict(chosen.left_out) == {
        "items with fewer than 2 objects": 3,
        "items with more than 3 objects": 1,
        "objects of at most 0.0025 of the picture": 2,
    }
    assert str(chosen).startswith("2 layouts (left out: 3 items with fewer than 2 objects; 1 items")
    assert layouts_of(data, classes_of(data), EVERY).items.tolist() == [0, 1, 5]
    assert classes_of(data) == ("cat", "dog", "fly")


def test_the_rules_are_the_field_s() -> None:
    rules = LayoutRules()
    assert (rules.fewest, rules.most, rules.least_area) == (3, 8, 0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fewest": 0}, "fewest must be 1 or more, not 0"),
        ({"fewest": 4, "most": 3}, "fewest is 4 but most is 3, so no layout would be left"),
        ({"least_area": 1.0}, "least_area is a share, from 0 to below 1, not 1.0"),
        ({"part_side": 0.0}, "part_side is a share of the side"),
    ],
)
def test_rules_that_keep_nothing_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        LayoutRules(**settings)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((0, 0, 41, 5), r"the box 0 0 41 5 does not lie in the picture of 40×20 pixels"),
        ((-3, 0, 4, 5), r"the box -3 0 4 5 does not lie in"),
        ((9, 0, 4, 5), r"the box 9 0 4 5 ends before it begins: x0 must be less than x1"),
        ((0, 5, 4, 5), r"ends before it begins"),
        ((0, 0, float("nan"), 5), r"the box 0 0 nan 5 ends before it begins"),
        ((0, 0, float("inf"), 5), r"the box 0 0 inf 5 does not lie in"),
    ],
)
def test_a_bad_box_is_named_with_its_item(box: tuple, message: str) -> None:
    data = table([DOG], [DOG, ("cat", box)])
    with pytest.raises(PolymodalError, match=message) as caught:
        layouts_of(data, ("cat", "dog"), EVERY)
    assert str(caught.value).startswith("The layout of item 1, 'cat': the box")
    assert str(caught.value).endswith("Mend it, or remove it.")


def test_a_box_over_the_edge_by_rounding_is_clipped() -> None:
    chosen = layouts_of(table([("dog", (-0.01, 0, 40.01, 20))]), ("dog",), EVERY)
    assert chosen.rows.boxes[0, 0].tolist() == [0, 0, 1, 1]


def test_a_class_that_a_model_does_not_know_is_named() -> None:
    with pytest.raises(PolymodalError) as caught:
        layouts_of(table([CAT], [DOG, ("dogs", DOG[1])]), ("cat", "dog"), EVERY)
    message = str(caught.value)
    assert "Unknown class in the layout of item 1: 'dogs'. Did you mean 'dog'?" in message
    assert "rename the object or leave it out, or train on data that have it" in message


def test_small_objects_of_unknown_classes_do_no_harm() -> None:
    rules = LayoutRules(fewest=1, most=3, least_area=0.01)
    assert layouts_of(table([DOG, FLY]), ("dog",), rules).rows.there.sum() == 1


def test_where_no_layout_is_left_the_reasons_are_counted() -> None:
    with pytest.raises(PolymodalError, match="No layout of 2 items is left: 2 items with fewer"):
        layouts_of(table([], [FLY]), ("fly",), LayoutRules())
    with pytest.raises(PolymodalError, match="No layout of 2 items is left"):
        layouts_of(table([], []), ("fly",), EVERY)
    with pytest.raises(PolymodalError, match="There is no layout: the split is empty"):
        layouts_of(table([DOG]).take([]), ("dog",), EVERY)


def test_an_object_of_a_layout_without_a_box_is_named() -> None:
    with pytest.raises(PolymodalError, match="The layout of item 0 has no box for 'sky'"):
        layouts_of(table([DOG, ("sky", None)]), ("dog", "sky"), EVERY)
    assert classes_of(table([DOG, ("sky", None)], name="regions")) == ("dog",)


def test_data_without_boxes_are_refused() -> None:
    data = Dataset({"image": Stored(np.zeros((1, 4, 4, 3), np.uint8))})
    with pytest.raises(PolymodalError, match="A layout needs the column 'layout'") as caught:
        layouts_of(data, ("dog",))
    assert "coco:PATH" in str(caught.value)


def test_parts_become_boxes() -> None:
    places = np.array([[[0.5, 0.5, 1], [0, 0, 0]], [[0.05, 0.9, 1], [0.5, 0.1, 1]]], np.float32)
    parts = Parts(2, Stored(places).batch, names=("beak", "tail"))
    data = Dataset({"image": Stored(np.zeros((2, HIGH, WIDE, 3), np.uint8)), "parts": parts})
    assert classes_of(data) == ("beak", "tail")
    rules = LayoutRules(fewest=1, most=2, least_area=0.0, part_side=0.4)
    rows = layouts_of(data, ("beak", "tail"), rules).rows
    assert rows.there.tolist() == [[True, False], [True, True]]
    assert rows.classes.tolist() == [[0, 0], [0, 1]]
    expected = [[0.3, 0.3, 0.7, 0.7], [0, 0.7, 0.25, 1], [0.3, 0, 0.7, 0.3]]
    assert np.allclose(rows.boxes[rows.there], expected, atol=1e-6)


def test_a_layout_in_words_becomes_a_row() -> None:
    box = np.array([[0, 0, 1, 0.5]], np.float32)
    layouts = [Layout(("dog",), box), Layout(("cat", "dog"), np.repeat(box, 2, 0))]
    rows = rows_of(layouts, ("cat", "dog"))
    assert rows.classes.tolist() == [[1, 0], [0, 1]] and rows.there.sum() == 3
    assert rows.boxes[1].tolist() == [[0, 0, 1, 0.5]] * 2
    assert rows_of(layouts, ("cat", "dog"), most=4).there.shape == (2, 4)
    with pytest.raises(PolymodalError, match="has 2 objects, but at most 1 fit"):
        rows_of(layouts, ("cat", "dog"), most=1)
    with pytest.raises(PolymodalError, match="Unknown class in layout 2: 'dog'"):
        rows_of([Layout(("cat",), box), layouts[0]], ("cat",))


@pytest.mark.parametrize(
    ("labels", "boxes", "message"),
    [
        ((), [], "A layout is empty. Give it one object at least"),
        (("dog",), [[0, 0, 1]], r"a box of four edges for each of its 1 labels, .* \[1, 3\]"),
        (("dog",), [[0, 0, 1, 2]], r"Object 1 of a layout \(dog\): the box 0 0 1 2 does not lie"),
        (("a", "b"), [[0, 0, 1, 1], [1, 0, 0, 1]], r"Object 2 of a layout \(b\): the box 1 0 0 1 ends"),
    ],
)  # fmt: skip
def test_a_layout_in_words_is_checked(labels: tuple, boxes: list, message: str) -> None:
    array = np.array(boxes, np.float32)
    with pytest.raises(PolymodalError, match=message):
        Layout(labels, array if boxes else array.reshape(0, 4))


def test_examples_have_pictures_with_their_layouts() -> None:
    data = table([DOG], [], [CAT, DOG], [DOG])
    examples = LayoutExamples(data, ("cat", "dog"), EVERY)
    assert [*examples.dataset.ids] == ["item 0", "item 2", "item 3"]
    assert examples.chosen.items.tolist() == [0, 2, 3]
    batch = examples.batch(np.array([1, 2]))
    assert batch.image.shape == (2, 3, HIGH, WIDE) and batch.image.dtype == torch.uint8
    assert batch.image[:, 0, 0, 0].tolist() == [2, 3]
    assert batch.boxes.dtype == torch.float32 and batch.classes.dtype == torch.int64
    assert batch.classes.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert batch.there.sum(1).tolist() == [2, 1]
    kept = examples.resident(torch.device("cpu")).batch(np.array([1, 2]))
    for name, value in vars(batch).items():
        assert torch.equal(vars(kept)[name], value)
    whole = table([DOG], [CAT])
    assert LayoutExamples(whole, ("cat", "dog"), EVERY).dataset is whole


def test_scenes_have_classes_that_say_what_must_be_seen() -> None:
    train = worlds.named("scenes", size=32, train=6, val=0, test=0).splits()["train"]
    rules = LayoutRules(fewest=1, most=10, least_area=0.0)
    rows = layouts_of(train, classes_of(train), rules).rows
    assert {len(label.split()) for label in classes_of(train)} == {3}
    for row, record in enumerate(train):
        boxes = np.array([region.box for region in record.regions]) / 32
        assert np.allclose(rows.boxes[row][rows.there[row]], boxes)


@pytest.mark.skipif(not REAL.exists(), reason=f"{REAL.name} is not beside the repository")
def test_the_real_layouts_are_kept_by_their_own_rules() -> None:
    splits = open_splits(f"coco:{REAL},size=64")
    classes = classes_of(splits["train"])
    assert len(classes) == 70
    rules = LayoutRules(fewest=2, most=8, least_area=0.01)  # one has nine objects of that size
    kept = {name: layouts_of(split, classes, rules) for name, split in splits.items()}
    assert {name: len(chosen.rows) for name, chosen in kept.items()} == {
        "train": 4499, "val": 300, "test": 800,
    }  # fmt: skip
