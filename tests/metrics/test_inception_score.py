"""The Inception score on cases that are known, and against a loop."""

import math

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.inception_score import inception_score


def test_it_is_the_number_of_classes_that_are_surely_and_evenly_found():
    logits = 1000 * torch.eye(6)[torch.arange(30) % 3]
    assert inception_score(logits).each == pytest.approx([3] * 5)


def test_pictures_that_all_look_alike_or_of_which_nothing_is_sure_have_1():
    one = torch.randn(1, 7).expand(20, 7)
    assert inception_score(one).mean == pytest.approx(1)
    assert inception_score(torch.zeros(20, 7)).mean == pytest.approx(1)


def test_each_split_is_that_of_a_loop():
    logits = torch.randn(23, 5, generator=torch.manual_seed(0))
    found = inception_score(logits, splits=4)
    expected = []
    for part in logits.double().softmax(1).tensor_split(4):
        marginal = part.mean(0).tolist()
        own = [
            sum(p * math.log(p / q) for p, q in zip(row, marginal, strict=True))
            for row in part.tolist()
        ]
        expected.append(math.exp(sum(own) / len(own)))
    assert found.each == pytest.approx(expected, rel=1e-9)
    mean = sum(expected) / 4
    assert found.mean == pytest.approx(mean)
    assert found.spread == pytest.approx((sum((e - mean) ** 2 for e in expected) / 4) ** 0.5)


def test_it_has_as_many_splits_as_are_asked_for():
    assert len(inception_score(torch.randn(9, 3)).each) == 5
    assert len(inception_score(torch.randn(9, 3), splits=1).each) == 1
    with pytest.raises(PolymodalError, match="of 5 splits needs as many pictures or more; found 4"):
        inception_score(torch.randn(4, 3))
    with pytest.raises(PolymodalError, match="splits must be 1 or more, not 0"):
        inception_score(torch.randn(4, 3), splits=0)
