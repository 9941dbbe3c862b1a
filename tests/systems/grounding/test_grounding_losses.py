"""The losses of grounding as their equations are written, in float64."""

import math

import pytest
import torch

from polymodal.systems.grounding.grounding_losses import image_loss, word_loss


def test_the_image_loss_is_equation_8() -> None:
    torch.manual_seed(0)
    scores, pair = torch.randn(5, 3).double(), torch.tensor([0, 0, 1, 2, 2])
    told = image_loss(scores, pair, torch.tensor([7, 8, 9]))
    for j in range(5):
        share = scores[j, pair[j]].exp() / scores[j].exp().sum()
        assert told[j].item() == pytest.approx(-math.log(share))


def test_pairs_of_one_image_are_no_negatives() -> None:
    scores = torch.randn(2, 3).double()
    told = image_loss(scores, torch.tensor([0, 2]), torch.tensor([7, 8, 7]))
    for j, own in ((0, 0), (1, 2)):
        share = scores[j, own].exp() / (scores[j, own].exp() + scores[j, 1].exp())
        assert told[j].item() == pytest.approx(-math.log(share))


def test_the_word_loss_is_equation_9_over_captions_that_have_a_substitute() -> None:
    scores = torch.randn(3, 4).double()
    there = torch.tensor([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1]]).bool()
    share = scores[0, 0].exp() / scores[0, [0, 1, 3]].exp().sum()
    assert word_loss(scores, there).item() == pytest.approx(-math.log(share))


def test_captions_without_nouns_have_no_word_loss_and_no_nan() -> None:
    scores = torch.randn(2, 3, requires_grad=True)
    loss = word_loss(scores, torch.zeros(2, 3).bool())
    loss.backward()
    assert loss.item() == 0
    assert not scores.grad.any()
