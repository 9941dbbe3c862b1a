"""The encoder that comes with the package recognises drawn birds, of classes that it never saw too."""

import numpy as np
import pytest

import polymodal
from polymodal.data.drawn import birds


@pytest.fixture(scope="module")
def model():
    return polymodal.load("cmdim-birds")


def named_rightly(model, split, first):
    """How many birds have their class among the first that are named, of those of their split."""
    among = [split.classes[c] for c in np.unique(split.labels)]
    answers = model.recognise(list(split.images(range(len(split)))), among=among, first=first)
    true = [split.classes[c] for c in split.labels]
    return np.mean([own in dict(named) for own, named in zip(true, answers, strict=True)])


def test_it_recognises_classes_never_seen(model):
    test = birds.named(test=60).splits()["test"]  # of 15 classes
    assert named_rightly(model, test, 1) > 0.3
    assert named_rightly(model, test, 5) > 0.75


def test_it_knows_other_birds_of_the_classes_that_it_learned_from(model):
    seen = birds.named(seed=1, test_seen=45).splits()["test_seen"]  # one of each
    assert named_rightly(model, seen, 1) > 0.85


def test_its_features(model):
    images = birds.named(test=15).splits()["test"].images(range(3))
    assert model.encode_images(list(images)).shape == (3, 512)
