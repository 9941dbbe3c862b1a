"""Images with all that is said of each: true texts, batches, residence, and orders of words."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data import batches
from polymodal.data.batch_order import Examples
from polymodal.data.drawn.scenes import draw, named, open_drawn
from polymodal.data.drawn.scenes.scene_split import Split
from polymodal.data.features import open_features, write_features
from polymodal.data.fixed_words import Words
from polymodal.data.folder import FolderSplit, open_folder
from polymodal.data.image_texts import (
    ImageTexts,
    numbered,
    shuffled,
    texts_of,
    words_of,
)

WORLD = named("two-objects", size=16, train=30, val=0)
CHOSEN = np.array([3, 0, 17, 17, 29])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Split:
    folder = tmp_path_factory.mktemp("drawn")
    draw(WORLD, folder, progress=False)
    return open_drawn(folder)["train"]


@pytest.fixture(scope="module")
def sayings(drawn) -> ImageTexts:
    return ImageTexts(drawn, words_of(drawn))


@pytest.fixture(scope="module")
def train(squares: Path) -> FolderSplit:
    return open_folder(squares, size=32, progress=False)["train"]


def true_of(record) -> set[str]:
    """Every text of nine words that is true of an image."""
    things = [region.name for region in record.regions]
    return {
        f"{things[a]} {relation} {things[b]}"
        for relation in ("left", "right", "front", "behind")
        for a, b in permutations(range(2))
        if (a, b) in record.relations[relation]
    }


def test_two_objects_have_the_four_texts_that_are_true(drawn, sayings):
    words = words_of(drawn)
    assert sayings.texts.shape == (30, 4, 9)
    for i in range(30):
        assert set(words.decode(sayings.texts[i])) == true_of(drawn[i])
    assert texts_of(drawn) == texts_of(WORLD.splits()["train"])


def test_the_words_of_drawn_worlds_stand_kind_by_kind(drawn):
    assert " ".join(words_of(drawn).words) == (
        "- small large cyan red gray blue yellow purple brown green rubber metal sphere cylinder "
        "cube left right front behind"
    )
    assert words_of(drawn).length == 9
    one = named("one-object", size=16, train=1, val=0, test=0).splits()["train"]
    assert words_of(one) == Words(
        words=("-", "small", "large", "red", "blue"), length=2, shortest=2
    )
    assert texts_of(one) == [(one.captions(0)[0].text,)]


def test_other_data_have_their_captions_and_words_by_frequency(train):
    words = words_of(train)
    assert words.words[:2] == ("-", "a")  # 'square', 'at' and 'the' are as frequent
    assert words.length == 6
    sayings = ImageTexts(train, words)
    assert sayings.texts.shape == (48, 2, 6)
    assert words.decode(sayings.texts[5]) == [caption.text for caption in train.captions(5)]


def test_captions_of_a_sentence_lose_their_full_stops():
    scenes = named("scenes", size=16, train=4, val=0, test=0).splits()["train"]
    words = words_of(scenes)
    assert not any(word.endswith((".", ":", ",")) for word in words.words)
    assert ImageTexts(scenes, words).texts.shape == (4, 5, words.length)


def test_an_image_with_fewer_texts_repeats_its_own():
    words = Words(words=("-", "a", "b", "c"), length=1)
    texts = numbered([["a", "b", "c"], ["b", "a"], ["c"]], words)
    assert texts[..., 0].tolist() == [[1, 2, 3], [2, 1, 2], [3, 3, 3]]


def test_a_text_that_the_words_do_not_know_is_named(drawn):
    with pytest.raises(PolymodalError, match=r"In the text 'large blue .*Unknown word 'blue'"):
        ImageTexts(drawn, Words(words=("-", "small", "large"), length=9))


def test_a_batch_is_what_its_records_say(sayings, drawn):
    batch = sayings.batch(CHOSEN)
    assert isinstance(sayings, Examples)
    assert len(batch) == 5
    assert len(sayings) == 30
    assert batch.images.shape == (5, 3, 16, 16)
    assert batch.images.dtype == torch.uint8
    for row, place in enumerate(CHOSEN):
        assert np.array_equal(batch.images[row].permute(1, 2, 0).numpy(), drawn[place].image)
        assert torch.equal(batch.texts[row], sayings.texts[place])


@pytest.mark.parametrize("block", [7, 30, 1024])
def test_resident_examples_give_the_same_batches(sayings, block, monkeypatch):
    monkeypatch.setattr(batches, "BLOCK", block)
    resident = sayings.resident(torch.device("cpu"))
    mine, theirs = resident.batch(CHOSEN), sayings.batch(CHOSEN)
    assert len(resident) == len(sayings)
    assert isinstance(resident, Examples)
    assert torch.equal(mine.images, theirs.images)
    assert torch.equal(mine.texts, theirs.texts)
    for batch in (mine, theirs):  # as convolutions like it best
        assert batch.images.is_contiguous(memory_format=torch.channels_last)


def test_they_are_made_resident_on_a_device(sayings):
    resident = sayings.resident(torch.device("meta"))
    pictures, texts = resident.fields["images"].pictures.values, resident.fields["texts"].values
    assert pictures.device.type == texts.device.type == "meta"
    assert pictures.shape == (30, 16, 16, 3)


def test_a_batch_goes_to_another_device_whole(sayings):
    moved = sayings.batch(CHOSEN).to("meta")
    assert {value.device.type for value in vars(moved).values()} == {"meta"}


def test_features_are_no_pictures(train, tmp_path):
    def extract(images):
        return images.mean((1, 2)).astype(np.float32)

    write_features({"train": train}, extract, tmp_path, "mean", dtype="float32", progress=False)
    features = open_features(tmp_path, {"train": train})["train"]
    with pytest.raises(PolymodalError, match=r"Pictures are needed.*Leave out --features"):
        ImageTexts(features, words_of(train))


def test_every_order_of_the_words_is_as_likely():
    texts = torch.tensor([1, 2, 0]).expand(2, 6000, 3)
    found = shuffled(texts, torch.Generator().manual_seed(0))
    assert found.shape == texts.shape
    orders = [tuple(row) for row in found.reshape(-1, 3).tolist()]
    for order in permutations((1, 2, 0)):  # 2000 expected, with a standard deviation of 41
        assert abs(orders.count(order) - 2000) < 5 * 41


def test_an_order_is_the_generators():
    texts = torch.arange(9).expand(4, 9)
    again = [shuffled(texts, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(again[0], again[1])
    assert not torch.equal(again[0], again[2])
    assert not torch.equal(again[0][0], again[0][1])
    assert torch.equal(again[0].sort(-1).values, texts)
    torch.manual_seed(3)
    first = shuffled(texts)
    torch.manual_seed(3)
    assert torch.equal(first, shuffled(texts))
