"""Contrastive losses against loops over pairs, with several captions of one image, and their gradients."""

import math

import pytest
import torch

from polymodal.maths.contrastive import pairwise_sigmoid, pseudo_pairs, symmetric_infonce

OWNERS = [list(range(7)), [0, 0, 1, 2, 2, 2, 3], [5, 5, 5, 5, 5, 5, 5]]


def scores_of(seed=0, scale=3.0):
    return scale * torch.randn(7, 7, dtype=torch.double, generator=torch.manual_seed(seed))


def naive_infonce(scores, owner):
    """Pair by pair, each way, the true one among those of other images."""
    total = 0.0
    for k in range(len(scores)):
        kept = [k] + [j for j in range(len(scores)) if owner[j] != owner[k]]
        for row in (scores[k], scores[:, k]):
            share = math.exp(row[k]) / sum(math.exp(row[j]) for j in kept)
            total -= 0.5 * math.log(share)
    return total


def naive_sigmoid(scores, owner, weight):
    """Pair by pair; and again, by image and by caption, with what scores as the true pair made true."""
    total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            s, true = scores[i, j].item(), owner[i] == owner[j]

            def cost(yes, s=s):
                return -math.log(1 / (1 + math.exp(-s if yes else s)))

            total += cost(true)
            total += 0.5 * weight * cost(true or s >= scores[i, i].item())
            total += 0.5 * weight * cost(true or s >= scores[j, j].item())
    return total


@pytest.mark.parametrize("owner", OWNERS)
def test_infonce_equals_a_loop(owner):
    found = symmetric_infonce(scores_of(), torch.tensor(owner)).item()
    assert found == pytest.approx(naive_infonce(scores_of(), owner), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("owner", OWNERS)
def test_the_sigmoid_equals_a_loop(owner, weight):
    found = pairwise_sigmoid(scores_of(), torch.tensor(owner), weight).item()
    assert found == pytest.approx(naive_sigmoid(scores_of(), owner, weight), rel=1e-12)


def test_infonce_is_two_cross_entropies():
    scores = scores_of()
    every = torch.arange(7)
    both = [
        torch.nn.functional.cross_entropy(s, every, reduction="sum") for s in (scores, scores.T)
    ]
    torch.testing.assert_close(symmetric_infonce(scores), sum(both) / 2)


def test_captions_of_one_image_cost_infonce_nothing():
    scores = torch.full((3, 3), 5.0)
    assert symmetric_infonce(scores, torch.zeros(3, dtype=torch.long)).item() == 0
    assert symmetric_infonce(scores).item() == pytest.approx(3 * math.log(3))


def test_captions_of_one_image_are_true_to_the_sigmoid():
    apart, owner = torch.full((2, 2), -20.0), torch.zeros(2, dtype=torch.long)
    assert pairwise_sigmoid(apart, owner).item() == pytest.approx(80)
    assert pairwise_sigmoid(-apart, owner).item() == pytest.approx(0, abs=1e-6)


def test_which_negatives_become_true():
    scores = torch.tensor([[1.0, 2.0, 1.0], [0.0, 3.0, 0.0], [1.5, 0.0, 2.0]])
    by_image, by_caption = pseudo_pairs(scores, torch.eye(3, dtype=torch.bool))
    assert by_image.tolist() == [[True, True, True], [False, True, False], [False, False, True]]
    assert by_caption.tolist() == [[True, False, False], [False, True, False], [True, False, True]]


def test_scores_of_any_size_are_safe():
    for size in (1e4, -1e4):
        scores = torch.full((4, 4), size, requires_grad=True)
        for loss in (symmetric_infonce(scores), pairwise_sigmoid(scores, pseudo_positives=0.1)):
            (gradient,) = torch.autograd.grad(loss, scores)
            assert loss.isfinite()
            assert gradient.isfinite().all()


@pytest.mark.parametrize("owner", OWNERS)
def test_gradients(owner):
    scores, owner = scores_of(3).requires_grad_(), torch.tensor(owner)
    assert torch.autograd.gradcheck(lambda s: symmetric_infonce(s, owner), scores)
    assert torch.autograd.gradcheck(lambda s: pairwise_sigmoid(s, owner, 0.1), scores)
