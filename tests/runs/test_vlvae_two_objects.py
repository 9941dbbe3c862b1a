"""The model that comes with the package draws what is said and says what it sees."""

import numpy as np
import pytest

import polymodal
from polymodal.data.drawn import scenes as worlds
from polymodal.data.image_texts import texts_of

TEXT = "large {} rubber sphere {} large {} rubber sphere"


@pytest.fixture(scope="module")
def model():
    return polymodal.load("vlvae-two-objects")


def seen(picture, channel):
    """How many pixels are mostly of one channel, and where they lie in the mean: down and to the right."""
    others = np.delete(picture, channel, -1).max(-1)
    here = np.argwhere(picture[..., channel].astype(int) - others > 40)
    return len(here), here.mean(0) if len(here) else np.full(2, np.nan)


@pytest.mark.parametrize(
    ("relation", "axis", "before"),
    [("left", 1, True), ("right", 1, False), ("behind", 0, True), ("front", 0, False)],
)
def test_it_draws_two_things_of_their_colours_in_their_places(model, relation, axis, before):
    pictures = model.generate(TEXT.format("red", relation, "blue"), 16, seed=3)
    right = 0
    for picture in pictures:
        (reds, red), (blues, blue) = seen(picture, 0), seen(picture, 2)
        right += reds > 50 and blues > 50 and (red[axis] < blue[axis]) == before
    assert right >= 13


def test_pictures_of_a_text_differ(model):
    pictures = model.generate(TEXT.format("red", "left", "blue"), 8).astype(float)
    assert np.abs(pictures[1:] - pictures[:-1]).mean((1, 2, 3)).min() > 1


def test_it_says_what_it_sees(model):
    """Of pictures that were drawn, not generated; which thing comes first is not in a picture."""
    shown = worlds.named("two-objects", train=0, val=24).splits()["val"]
    texts = texts_of(shown)
    right = 0
    for found, true in zip(model.caption(shown.images(range(24))), texts, strict=True):
        said = sorted((found.split()[:4], found.split()[5:]))
        right += said in [sorted((t.split()[:4], t.split()[5:])) for t in true]
    assert right >= 18
