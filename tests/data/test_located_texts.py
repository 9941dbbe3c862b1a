"""ImageTexts with places: batches on the host and on a device are the same."""

import numpy as np
import pytest
import torch

from polymodal.data.drawn.scenes import named
from polymodal.data.folder import open_folder
from polymodal.data.image_texts import ImageTexts, words_of
from polymodal.data.located_texts import LocatedTextBatch, LocatedTexts


@pytest.fixture(scope="module")
def examples() -> LocatedTexts:
    train = named("two-objects", size=16, train=12, val=1, test=0).splits()["train"]
    return LocatedTexts(train, words_of(train))


def test_a_batch_is_that_of_the_sayings_with_places(examples):
    rows = np.array([7, 0, 3])
    batch = examples.batch(rows)
    plain = ImageTexts(examples.dataset, words_of(examples.dataset)).batch(rows)
    assert isinstance(batch, LocatedTextBatch)
    assert torch.equal(batch.images, plain.images)
    assert torch.equal(batch.texts, plain.texts)
    known = examples.dataset.column("places").batch(range(12))
    assert np.array_equal(batch.places.numpy(), known[rows])
    moved = batch.to("cpu")
    assert isinstance(moved, LocatedTextBatch)
    assert torch.equal(moved.places, batch.places)


def test_resident_batches_are_the_same(examples):
    rows = np.array([7, 0, 3])
    kept = examples.resident(torch.device("cpu"))
    assert len(kept) == len(examples) == 12
    for name, value in vars(examples.batch(rows)).items():
        assert torch.equal(vars(kept.batch(rows))[name], value), name


def test_unknown_places_are_none(squares):
    train = open_folder(squares, size=32, progress=False)["train"]
    batch = LocatedTexts(train, words_of(train)).batch(np.arange(5))
    assert batch.places.shape == (5, 2, 0, 2)
