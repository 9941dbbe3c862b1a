"""The world: its splits, that it is a dataset with classes, and what is refused."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import classed, has_classes
from polymodal.data.drawn import birds
from polymodal.data.drawn.birds.plumage import ATTRIBUTES, PARTS
from polymodal.data.drawn.birds.species import TRAIN, UNSEEN, VAL
from polymodal.views.contact_sheet import contact_sheet

SMALL: dict[str, Any] = {"size": 24, "train": 70, "val": 23, "test_seen": 50, "test": 30}


def test_splits_have_their_classes() -> None:
    splits = birds.named(**SMALL).splits()
    assert {name: len(split) for name, split in splits.items()} == {
        "train": 70,
        "val": 23,
        "trainval": 93,
        "test_seen": 50,
        "test": 30,
    }
    classes = {name: set(split.labels.tolist()) for name, split in splits.items()}
    assert classes["train"] == set(TRAIN) and classes["val"] == set(VAL)
    assert classes["test"] == set(UNSEEN)
    assert classes["trainval"] == classes["test_seen"] == set(TRAIN + VAL)
    assert np.bincount(splits["test"].labels)[list(UNSEEN)].tolist() == [2] * 15
    assert len({split.fingerprint for split in splits.values()}) == 5


def test_trainval_is_train_and_val() -> None:
    splits = birds.named(**SMALL).splits()
    train, val, both = splits["train"], splits["val"], splits["trainval"]
    assert both.ids == train.ids + val.ids
    assert np.array_equal(both.labels, np.concatenate([train.labels, val.labels]))
    assert np.array_equal(both.images([3, 71]), np.stack([train[3].image, val[1].image]))
    assert np.array_equal(both.parts, np.concatenate([train.parts, val.parts]))


def test_a_split_is_a_dataset_with_classes() -> None:
    split = birds.named(**SMALL).splits()["test"]
    assert has_classes(split) and classed(split) is split
    assert split.attribute_names == ATTRIBUTES and split.part_names == PARTS
    assert len(split.classes) == 60 and split.attributes.shape == (60, 64)
    assert split.labels.dtype == np.int64 and split.labels.shape == (30,)
    assert split.parts.dtype == np.float32 and split.parts.shape == (30, 15, 3)
    record = split[-1]
    assert record.id == "birds-0-test-000029"
    assert np.array_equal(record.image, split.images([29])[0])
    assert record.captions == split.captions(29)
    assert record.captions[0].text.split(" ", 1)[1] == split.classes[split.labels[29]]
    assert split.images([]).shape == (0, 24, 24, 3) and split.masks([]).shape == (0, 24, 24)
    assert split.rule == "24×24: drawn at this size"


def test_a_bird_does_not_depend_on_how_many_there_are() -> None:
    few, many = birds.named(**SMALL).splits(), birds.named(**SMALL | {"train": 200}).splits()
    assert np.array_equal(few["train"].labels, many["train"].labels[:70])
    assert np.array_equal(few["train"].images(range(5)), many["train"].images(range(5)))
    assert few["train"].fingerprint != many["train"].fingerprint


def test_another_seed_has_other_birds_of_the_same_classes() -> None:
    one, other = (birds.named(seed=seed, **SMALL).splits()["test"] for seed in (0, 1))
    assert np.array_equal(one.attributes, other.attributes)
    assert (one.images(range(4)) != other.images(range(4))).mean() > 0.5
    assert not np.array_equal(one.codes, other.codes)


def test_a_split_can_be_sent_to_a_worker() -> None:
    split = birds.named(**SMALL).splits()["val"]
    parts = split.parts
    again = pickle.loads(pickle.dumps(split))
    assert again.fingerprint == split.fingerprint and np.array_equal(again.parts, parts)
    assert np.array_equal(again.images([2]), split.images([2]))


def test_birds_fit_a_contact_sheet(tmp_path: Path) -> None:
    contact_sheet(birds.named(**SMALL).splits()["test"], tmp_path / "sheet.png", count=3, columns=3)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width == 2 * 36 + 3 * 336 + 2 * 28


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sise": 64}, "Unknown option of the world 'birds' 'sise'. Did you mean 'size'"),
        ({"size": 8}, "size is 8, but images are square and from 16 to 4096"),
        ({"size": (64, 32)}, "images are square"),
        ({"seed": -1}, "seed is -1. Give 0 or more"),
        ({"train": 34}, "train is 34, but there are 35 classes in it, .* Give 35 or more"),
        ({"val": 0}, "val is 0, but there are 10 classes"),
        ({"test_seen": 44}, "test_seen is 44, but there are 45 classes"),
        ({"test": -1}, "test is -1, but there are 15 classes"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        birds.named(**options)


def test_an_index_past_the_end_is_named() -> None:
    split = birds.named(**SMALL).splits()["val"]
    with pytest.raises(IndexError, match="There are 23 records, so there is no index 23"):
        split[23]


def test_importing_birds_is_light() -> None:
    code = "import sys, polymodal.data.drawn.birds; print('torch' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
