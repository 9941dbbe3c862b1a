"""Where objects are seen, against the masks of the pictures and what the captions say."""

import numpy as np
import pytest

from polymodal.data.drawn.scenes import named
from polymodal.data.image_texts import texts_of
from polymodal.data.records import Dataset


def drawn(name: str, **options) -> Dataset:
    return named(name, size=64, train=40, val=1, test=0, **options).splits()["train"]


def places(dataset: Dataset) -> np.ndarray:
    return dataset.column("places").batch(range(len(dataset)))


@pytest.fixture(scope="module")
def two() -> Dataset:
    return drawn("two-objects")


def middle(mask: np.ndarray, k: int) -> np.ndarray:
    """The mean of an object's visible pixels, in sides of the picture."""
    rows, columns = np.nonzero(mask == k + 1)
    return (np.array([columns.mean(), rows.mean()]) + 0.5) / len(mask)


def test_the_places_are_where_the_first_and_second_object_of_each_text_are_seen(two):
    found = places(two)
    assert found.shape == (40, 4, 2, 2)
    seen = 0
    for i, texts in enumerate(texts_of(two)):
        record = two[i]
        for text, own in zip(texts, found[i], strict=True):
            relation = text.split()[4]
            ((a, b),) = record.relations[relation]
            for k, place in zip((a, b), own, strict=True):
                if record.regions[k].attributes["visible"] == 1:  # hidden parts move the middle
                    assert np.abs(middle(record.mask, k) - place).max() < 0.02
                    seen += 1
    assert seen > 200


def test_they_follow_the_order_in_which_the_caption_names_the_objects(two):
    for i, texts in enumerate(texts_of(two)):
        caption = two.captions(i)[0]
        first, second = (phrase.regions[0] for phrase in caption.phrases)
        relation = caption.text.split()[4]
        own = places(two)[i, [text.split()[4] for text in texts].index(relation)]
        mask = two[i].mask
        apart = [np.linalg.norm(middle(mask, k) - own[0]) for k in (first, second)]
        assert apart[0] < apart[1]


def test_one_object_has_one_place():
    one = drawn("one-object")
    found = places(one)
    assert found.shape == (40, 1, 1, 2)
    for i in range(40):
        assert np.abs(middle(one[i].mask, 0) - found[i, 0, 0]).max() < 0.02


def test_nobody_knows_them_elsewhere(squares):
    from polymodal.data.folder import open_folder

    assert "places" not in drawn("scenes", objects=(3, 3)).columns
    assert "places" not in open_folder(squares, size=32, progress=False)["train"].columns
