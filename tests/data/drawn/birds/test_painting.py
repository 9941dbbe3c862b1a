"""Pictures: the same for any order, number of workers and machine, and of any size."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from polymodal.data.drawn import birds
from polymodal.data.drawn.birds.bird_shapes import MOST_BALLS, MOST_SHAPES
from polymodal.data.drawn.birds.bird_split import Split


@pytest.fixture(scope="module")
def split() -> Split:
    return birds.named(size=48).splits()["train"]


def test_pixels_do_not_depend_on_workers_order_or_number(split: Split) -> None:
    chosen = [*range(40), 7]
    one, _ = split._paint(chosen, workers=1)
    many, _ = split._paint(chosen, workers=3)
    assert np.array_equal(one, many)
    assert np.array_equal(split.images(chosen[::-1]), one[::-1])
    assert np.array_equal(split.images([5])[0], one[5])
    assert np.array_equal(one[7], one[40])
    assert not np.array_equal(one[7], one[8])


def test_pixels_are_the_same_on_every_machine() -> None:
    """A change here is a change of the data: raise EDITION."""
    split = birds.named().splits()["test"]
    digest = hashlib.sha256(split.images(range(6)).tobytes() + split.masks([0]).tobytes())
    assert digest.hexdigest()[:16] == "56c222fa7f6e7fbd"


DRAWN = """
import hashlib, warnings
warnings.simplefilter("ignore")
from polymodal.data.drawn import birds
split = birds.named(size=16, test=15).splits()["test"]
digest = hashlib.sha256(split.codes.tobytes())
digest.update(split.images([0, 1, 2]).tobytes() + split.masks([0]).tobytes())
digest.update(split.parts[:3].tobytes())
print(digest.hexdigest())
"""


def test_compiled_and_interpreted_agree_to_the_bit() -> None:
    """Plain Python floats are IEEE doubles: what they give, every machine can give."""
    found = [
        subprocess.run(
            [sys.executable, "-c", DRAWN],
            env=os.environ | {"NUMBA_DISABLE_JIT": choice},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for choice in "01"
    ]
    assert found[0] == found[1] != ""


@pytest.mark.parametrize("size", [16, 33, 160])
def test_any_size_can_be_drawn(size: int) -> None:
    split = birds.named(size=size).splits()["val"]
    images, masks = split.images([0, 1]), split.masks([0, 1])
    assert images.shape == (2, size, size, 3) and images.dtype == np.uint8
    assert masks.shape == (2, size, size) and masks.max() <= 15
    assert 60 < images.mean() < 210 and images.std() > 20
    assert 0.04 < (masks > 0).mean() < 0.5


def test_a_larger_image_is_the_same_picture() -> None:
    small, large = (birds.named(size=size).splits()["train"] for size in (32, 128))
    fine = large.images(range(8)).astype(float).reshape(8, 32, 4, 32, 4, 3).mean((2, 4))
    assert np.abs(fine - small.images(range(8))).mean() < 6


COMPOSED = """
import warnings
warnings.simplefilter("ignore")
from polymodal.data.drawn import birds
from polymodal.data.drawn.birds import painting
from polymodal.data.drawn.birds.plumage import CREST
split = birds.named(train=60).splits()["train"]
split.codes[:, CREST] = 1
rows = zip(split.seeds, split.items, split.codes)
counts = [painting.compose(*row)[0].counts for row in rows]
print(*(max(column) for column in zip(*counts)))
"""


def test_no_picture_holds_more_than_there_is_room_for() -> None:
    """Compiled code does not check bounds, so the most that there can be is counted here."""
    done = subprocess.run(
        [sys.executable, "-c", COMPOSED],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    shapes, balls = map(int, done.stdout.split())
    far, perch, cover = 16 + 8, 1 + 5, 1 + 3
    wings, tail, legs, head, body = 2 + 1, 1, 2 * (1 + 5), 3 + 1 + 2, 1
    assert 40 < shapes <= far + perch + wings + tail + legs + head + body + cover <= MOST_SHAPES
    assert 80 < balls <= 7 + 2 * (2 + 4 * 3 + 2) + (3 * 4 + 7) + 26 + 3 <= MOST_BALLS
