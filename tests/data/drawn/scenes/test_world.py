"""Worlds by name, their splits, and what is said to who asks for what is not there."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import scenes as worlds


def test_splits_are_ranges_of_items() -> None:
    splits = worlds.named("scenes", train=5, val=3, test=2, size=16).splits()
    assert {name: len(split) for name, split in splits.items()} == {"train": 5, "val": 3, "test": 2}
    assert [splits["val"][k].id for k in range(3)] == [f"scenes-0-00000{k}" for k in (5, 6, 7)]
    assert len({split.fingerprint for split in splits.values()}) == 3


def test_defaults_are_the_papers() -> None:
    two = worlds.named("two-objects")
    assert (two.train, two.val, two.test, two.size, two.objects) == (90_000, 10_000, 0, 112, (2, 2))
    assert list(two.items) == ["train", "val"]
    scenes = worlds.named("scenes")
    assert (scenes.train, scenes.val, scenes.test, scenes.objects) == (8000, 1000, 1000, (3, 8))


def test_records_agree_with_captions_and_images() -> None:
    split = worlds.named("scenes", train=4, val=0, test=0, size=32).splits()["train"]
    images = split.images([2, 0, -1])
    assert images.shape == (3, 32, 32, 3)
    for image, index in zip(images, (2, 0, 3), strict=True):
        record = split[index]
        assert np.array_equal(record.image, image)
        assert record.captions == split.captions(index)
        assert record.regions is not None and record.mask.shape == (32, 32)
    assert split.images([]).shape == (0, 32, 32, 3)
    assert len(list(iter(split))) == 4  # type: ignore[call-overload]


def test_composition_holds_combinations_out() -> None:
    world = worlds.named(
        "scenes", train=60, val=30, test=60, size=16, hold_out=("cylinder purple", "small red cube")
    )
    splits = world.splits()

    def held(split: Any, k: int) -> bool:
        return any(
            {"purple", "cylinder"} <= set(region.name.split())
            or {"small", "red", "cube"} <= set(region.name.split())
            for region in split[k].regions
        )

    for name, split in splits.items():
        assert all(held(split, k) == (name == "composition") for k in range(len(split)))
    assert len(splits["test"]) + len(splits["composition"]) == 60
    assert 0 < len(splits["composition"]) < 60
    assert len(splits["train"]) < 60 and len(splits["val"]) < 30


def test_seeds_and_worlds_share_no_scenes() -> None:
    roots = {worlds.named(name, seed=seed).root for name in worlds.WORLDS for seed in range(5)}
    assert len(roots) == 15
    assert all(0 <= root < 2**63 for root in roots)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("scene", {}, "Unknown world 'scene'. Did you mean 'scenes'"),
        ("scenes", {"sise": 64}, "'sise'. Did you mean 'size'"),
        ("scenes", {"hold_out": ("purpel cube",)}, "attribute 'purpel'. Did you mean 'purple'"),
        ("scenes", {"hold_out": ("red blue",)}, "two values of colour"),
        ("scenes", {"hold_out": ("",)}, "empty combination"),
        ("scenes", {"hold_out": "red cube"}, r"Write hold_out=\('red cube',\)"),
        ("two-objects", {"hold_out": ("red cube",)}, "test is 0"),
        ("scenes", {"size": 8}, "images are square and from 16"),
        ("scenes", {"size": (64, 32)}, "images are square"),
        ("scenes", {"train": -1}, "train counts images, but was -1"),
        ("scenes", {"train": 0, "val": 0, "test": 0}, "nothing to draw"),
        ("scenes", {"seed": -1}, "seed is -1"),
        ("scenes", {"objects": (5, 3)}, r"objects is \(5, 3\)"),
        ("scenes", {"objects": (1, 11)}, "from 1 to 10"),
        ("two-objects", {"objects": (3, 3)}, "has 2 in every image"),
    ],
)
def test_mistakes_are_named(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        worlds.named(name, **options)


def test_a_split_that_would_be_empty_is_named() -> None:
    world = worlds.named("one-object", train=5, val=5, test=5, hold_out=("sphere",))
    with pytest.raises(PolymodalError, match="the split 'train' of 5 scenes has nothing left"):
        world.splits()


def test_an_index_past_the_end_is_named() -> None:
    split = worlds.named("scenes", train=4, size=16).splits()["train"]
    with pytest.raises(IndexError, match="There are 4 records, so there is no index 4"):
        split[4]


def test_importing_worlds_is_light() -> None:
    code = "import sys, polymodal.data.drawn.scenes; print('torch' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
