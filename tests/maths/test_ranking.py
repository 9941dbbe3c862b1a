"""The hinge against a naive double loop, its three ways of choosing negatives, its gradients."""

import pytest
import torch

from polymodal.maths.ranking import hinge


def naive_hinge(scores, margin, negatives, owner):
    """001, eq. 1–2, pair by pair."""
    b = len(scores)
    total = 0.0
    for k in range(b):
        true = scores[k, k].item()
        wrong = [j for j in range(b) if owner[j] != owner[k]]
        for others in ([scores[k, j].item() for j in wrong], [scores[j, k].item() for j in wrong]):
            if not others:
                continue
            if negatives == "sum":
                chosen = others
            elif negatives == "hardest":
                chosen = [max(others)]
            else:
                below = [s for s in others if s < true]
                chosen = [max(below)] if below else [min(others)]
            total += sum(max(0.0, margin + s - true) for s in chosen)
    return total


@pytest.mark.parametrize("negatives", ["hardest", "sum", "semi-hard"])
@pytest.mark.parametrize("owner", [list(range(9)), [0, 0, 1, 2, 2, 2, 3, 4, 5]])
def test_hinge_equals_a_double_loop(negatives, owner):
    torch.manual_seed(0)
    scores = torch.randn(9, 9, dtype=torch.double)
    found = hinge(scores, 0.2, negatives, torch.tensor(owner))
    assert found.item() == pytest.approx(naive_hinge(scores, 0.2, negatives, owner), rel=1e-12)


def test_captions_of_one_image_are_no_negatives():
    scores = torch.full((3, 3), 5.0)
    assert hinge(scores, 0.2, "hardest", torch.zeros(3, dtype=torch.long)).item() == 0


@pytest.mark.parametrize("negatives", ["hardest", "sum", "semi-hard"])
def test_gradients(negatives):
    torch.manual_seed(3)
    scores = torch.randn(6, 6, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: hinge(s, 0.2, negatives), scores)


def test_perfect_scores_cost_nothing():
    assert hinge(torch.eye(5), 0.2).item() == 0
