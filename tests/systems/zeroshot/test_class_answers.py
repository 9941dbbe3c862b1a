"""A learner in use: features of a user's pictures, and the classes that they may show."""

import numpy as np
import pytest
import torch
from PIL import Image

from learners import made
from patches import SIZE, TEST, TRAIN
from polymodal.base.errors import PolymodalError
from polymodal.systems.zeroshot import class_answers as asking
from polymodal.systems.zeroshot.prototypes import cosines


@pytest.fixture(scope="module")
def system():
    found = made("fc")
    found.fit_prototypes()
    return found


def test_features_are_those_of_the_split(system, tmp_path, monkeypatch):
    """Of arrays, pictures and files alike, in blocks too."""
    monkeypatch.setattr(asking, "BLOCK", 2)
    pixels = TEST.images([0, 1, 2])
    Image.fromarray(pixels[2]).save(tmp_path / "c.png")
    found = system.encode_images([pixels[0], Image.fromarray(pixels[1]), tmp_path / "c.png"])
    torch.testing.assert_close(found, system.features(TEST)[0][:3])
    assert system.encode_images([]).shape == (0, 64)


def test_the_likeliest_classes_come_first(system):
    scores = cosines(system.features(TEST)[0], system.prototypes(system.attributes))
    found = system.recognise(list(TEST.images(range(4))), first=3)
    for row, named in zip(scores[:4], found, strict=True):
        best = row.topk(3)
        assert [name for name, _ in named] == [TRAIN.classes[k] for k in best.indices]
        assert [score for _, score in named] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_only_classes_that_may_be_named_are(system):
    among = [TRAIN.classes[k] for k in (3, 9)]
    scores = cosines(system.features(TEST)[0], system.prototypes(system.attributes))[:, [3, 9]]
    found = system.recognise(list(TEST.images(range(5))), among=among)
    assert [named[0][0] for named in found] == [among[k] for k in scores[:5].argmax(1)]
    assert all(len(named) == 2 for named in found)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"among": ["no such class"]}, "Unknown class 'no such class'"),
        ({"among": []}, "among is a list of one class or more"),
        ({"among": "finch"}, "among is a list of one class or more, such as"),
        ({"first": 0}, "first must be 1 or more, not 0"),
    ],
)
def test_what_cannot_be_asked(system, how, message):
    with pytest.raises(PolymodalError, match=message):
        system.recognise([np.zeros((SIZE, SIZE, 3), np.uint8)], **how)


def test_one_path_is_no_list(system):
    with pytest.raises(PolymodalError, match=r"a list of pictures, such as \['image.png'\]"):
        system.encode_images("image.png")
