"""Datasets by a short name: its grammar, its options and what it says to a mistake."""

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes import draw, named
from polymodal.data.sources import look_at, number, open_splits, parse, world_options


@pytest.mark.parametrize(
    ("spec", "name", "options"),
    [
        ("scenes", "scenes", {}),
        ("scenes,size=64,seed=1", "scenes", {"size": "64", "seed": "1"}),
        ("folder:a,b/c=d,size=8", "folder:a,b/c=d", {"size": "8"}),
        ("folder:x, y", "folder:x, y", {}),
        ("runs/a=b", "runs/a=b", {}),
        ("scenes,hold_out=red cube+blue sphere,overlap=", "scenes",
         {"hold_out": "red cube+blue sphere", "overlap": ""}),
        ("cub:a/b.zip,splits=x/CUB,size=64", "cub:a/b.zip", {"splits": "x/CUB", "size": "64"}),
        ("cub:a,b=c/d,fold=2,splits=x, y/z", "cub:a,b=c/d", {"fold": "2", "splits": "x, y/z"}),
    ],
)  # fmt: skip
def test_grammar(spec, name, options):
    assert parse(spec) == (name, options)


def test_options_of_a_world():
    assert world_options("scenes", {"objects": "2-4", "overlap": "yes", "size": "32"}) == {
        "name": "scenes",
        "objects": (2, 4),
        "overlap": True,
        "size": 32,
    }
    assert world_options("scenes", {"objects": "3"})["objects"] == (3, 3)
    assert world_options("scenes", {"overlap": "no"})["overlap"] is False
    assert world_options("two-objects", {"count": "1000"}) == {
        "name": "two-objects",
        "train": 900,
        "val": 100,
        "test": 0,
    }


def test_a_world_is_drawn_into_the_cache_and_looked_at_on_the_fly():
    spec = "scenes,size=16,train=3,val=2,test=1"
    kept, seen = open_splits(spec), look_at(spec)
    assert {name: len(split) for name, split in kept.items()} == {"train": 3, "val": 2, "test": 1}
    assert np.array_equal(kept["train"].images([0, 2]), seen["train"].images([0, 2]))
    assert kept["train"].fingerprint == seen["train"].fingerprint


def test_a_drawn_set_by_its_folder(tmp_path):
    draw(named("scenes", size=16, train=2, val=1, test=1), tmp_path / "set")
    assert len(open_splits(str(tmp_path / "set"))["train"]) == 2
    with pytest.raises(PolymodalError, match="is drawn already, so size cannot be set any more"):
        open_splits(f"{tmp_path / 'set'},size=32")


def test_a_folder_of_ones_own(squares):
    splits = open_splits(f"folder:{squares},size=24")
    assert splits["val"].images([0]).shape == (1, 24, 24, 3)
    assert open_splits(f"folder:{squares}")["val"].images([0]).shape == (1, 224, 224, 3)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("scene", "Unknown dataset 'scene'. Did you mean 'scenes'?"),
        ("scenes,sise=3", "Unknown option of the world 'scenes' 'sise'. Did you mean 'size'?"),
        ("scenes,size=big", "size is a whole number, not 'big'"),
        ("scenes,objects=2-x", "objects is a whole number, not 'x'"),
        ("folder:x,sizes=3", "Unknown option of folder: 'sizes'. Did you mean 'size'?"),
        ("folder:x,size=3.5", "size is a whole number, not '3.5'"),
        ("cub", "Unknown dataset 'cub'. Known: awa2:PATH, "),
        ("cub:x", "cub:x lacks its splits. Add ,splits=PATH, the folder of xlsa17 for it."),
        ("awa2:x,splits=y/z,sise=3", "Unknown option of awa2: 'sise'. Did you mean 'size'?"),
        ("sun:x,splits=y/z,fold=one", "fold is a whole number, not 'one'"),
        ("sun:nowhere,splits=y/z", "nowhere: there is no such folder."),
        ("folder:x,size=100000",
         "The image size must be at least 1 pixel and at most 4096, but is 100000."),
        ("folder:x,size=0", "at least 1 pixel and at most 4096, but is 0."),
        ("folder:x,size=-1", "size is a whole number, not '-1'"),
        ("folder:x,size=1e3", "size is a whole number, not '1e3'"),
        ("folder:x,size=abc", "size is a whole number, not 'abc'"),
        ("folder:x,size=" + "9" * 5000, "size is a whole number of at most 100 digits, not 5000."),
        ("cub:x,splits=y,size=4097", "at least 1 pixel and at most 4096, but is 4097."),
        ("cub:x,splits=y,fold=4", "fold must be 1 to 3, not 4."),
        ("scenes,train=1000000000000", "train is 1,000,000,000,000 images, but at most 10,000,000 are drawn"),
        ("scenes,val=10000001", "val is 10,000,001 images, but at most 10,000,000 are drawn"),
        ("scenes,test=1e3", "test is a whole number, not '1e3'"),
        ("scenes,count=1000000000000", "train is 800,000,000,000 images, but at most"),
        ("scenes,count=0", "train, val and test are all 0"),
        ("scenes,size=100000", "size is 100000, but images are square and from 16 to 4096"),
        ("scenes,objects=", "objects is a whole number, not ''"),
        ("scenes,objects=3-99", "objects is (3, 99), but must be"),
        ("scenes,hold_out=", "hold_out has an empty combination"),
        ("birds,test_seen=1000000000000", "test_seen is 1,000,000,000,000 images, but at most 10,000,000"),
        ("birds,size=100000", "size is 100000, but images are square and from 16 to 4096"),
        ("birds,fold=1", "Unknown option of the world 'birds' 'fold'"),
    ],
)  # fmt: skip
def test_mistakes(spec, message):
    with pytest.raises(PolymodalError) as caught:
        open_splits(spec)
    assert message in str(caught.value)


def test_a_folder_that_is_no_set(tmp_path):
    with pytest.raises(PolymodalError, match=r"is a folder without a drawn set.*say folder:"):
        open_splits(str(tmp_path))


@pytest.mark.parametrize("text", ["", "-1", "²"])
def test_what_is_no_number(text):
    with pytest.raises(PolymodalError, match="seed is a whole number"):
        number("seed", text)


def test_options_are_given_once_and_said_plainly():
    with pytest.raises(PolymodalError, match="gives an option twice"):
        parse("scenes,size=32,size=64")
    with pytest.raises(PolymodalError, match="overlap is yes or no, not 'maybe'"):
        world_options("scenes", {"overlap": "maybe"})
    assert world_options("scenes", {"overlap": "yes"})["overlap"] is True
    assert parse("folder:a,b=c/d") == ("folder:a,b=c/d", {})


def test_birds_by_name():
    splits = open_splits("birds,size=32,train=70,val=20,test_seen=45,test=30")
    assert {name: len(split) for name, split in splits.items()} == {
        "train": 70, "val": 20, "trainval": 90, "test_seen": 45, "test": 30,
    }  # fmt: skip
    assert splits["test"].images([0]).shape == (1, 32, 32, 3)
    with pytest.raises(PolymodalError, match="size is a whole number, not 'big'"):
        open_splits("birds,size=big")
