"""Pairs by the batch: who owns which caption, padding, and the same pairs kept on a device."""

import numpy as np
import pytest
import torch

from polymodal.data import batches
from polymodal.data.features import open_features, write_features
from polymodal.data.folder import FolderSplit, open_folder
from polymodal.data.pairs import Pairs, captions_of, inputs, owners
from polymodal.data.vocabulary import PAD, Vocabulary

CHOSEN = np.array([3, 0, 1, 17, 17])


@pytest.fixture(scope="module")
def train(squares) -> FolderSplit:
    return open_folder(squares, size=32, progress=False)["train"]


@pytest.fixture(scope="module")
def vocabulary(train) -> Vocabulary:
    return Vocabulary.of(text for own in captions_of(train) for text in own)


@pytest.fixture(scope="module")
def pairs(train, vocabulary) -> Pairs:
    return Pairs(train, vocabulary)


def test_every_caption_is_a_pair(pairs, train):
    assert len(pairs) == 2 * len(train) == 96
    assert pairs.owner.tolist() == [i // 2 for i in range(96)]


def test_two_captions_of_one_image_share_it(pairs):
    batch = pairs.batch(np.array([0, 1, 2]))
    assert batch.owner.tolist() == [0, 0, 1]
    assert torch.equal(batch.images[0], batch.images[1])
    assert not torch.equal(batch.images[1], batch.images[2])


def test_a_batch_is_what_its_records_say(pairs, train, vocabulary):
    batch = pairs.batch(CHOSEN)
    assert len(batch) == 5
    assert batch.images.dtype == torch.uint8
    assert batch.images.shape == (5, 3, 32, 32)
    for row, place in enumerate(CHOSEN):
        record = train[place // 2]
        text = record.captions[place % 2].text
        assert np.array_equal(batch.images[row].permute(1, 2, 0).numpy(), record.image)
        assert batch.tokens[row, : batch.lengths[row]].tolist() == vocabulary.encode(text)


def test_tokens_are_padded_to_the_longest_of_the_batch(pairs):
    short = pairs.batch(np.array([1, 3]))  # "something red", "something green"
    assert short.tokens.shape == (2, 4)
    mixed = pairs.batch(np.array([0, 1]))
    assert mixed.tokens.shape == (2, 8)
    assert mixed.lengths.tolist() == [8, 4]
    assert (mixed.tokens[1, 4:] == PAD).all()
    assert (mixed.tokens[1, :4] != PAD).all()


@pytest.mark.parametrize("block", [7, 1024])
def test_resident_pairs_give_the_same_batches(pairs, block, monkeypatch):
    monkeypatch.setattr(batches, "BLOCK", block)
    resident = pairs.resident(torch.device("cpu"))
    assert len(resident) == len(pairs)
    mine, theirs = resident.batch(CHOSEN), pairs.batch(CHOSEN)
    for name, value in vars(theirs).items():
        assert torch.equal(vars(mine)[name], value), name


def test_features_take_the_place_of_pictures(train, vocabulary, tmp_path):
    def extract(images):
        return images.mean((1, 2)).astype(np.float32)

    write_features({"train": train}, extract, tmp_path, "mean", dtype="float32", progress=False)
    features = open_features(tmp_path, {"train": train})["train"]
    expected = torch.from_numpy(extract(train.images([4, 2])))
    assert torch.equal(inputs(features, [4, 2]), expected)
    assert torch.equal(Pairs(features, vocabulary).batch(np.array([9, 5])).images, expected)


def test_a_batch_goes_to_another_device_whole(pairs):
    moved = pairs.batch(CHOSEN).to("meta")
    assert {value.device.type for value in vars(moved).values()} == {"meta"}


def test_owners_of_images_with_any_number_of_captions():
    assert owners([["a"], [], ["b", "c", "d"]]).tolist() == [0, 2, 2, 2]
