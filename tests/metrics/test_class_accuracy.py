"""Accuracies of unseen classes, against loops."""

import pytest
import torch
from torchmetrics.functional.classification import multiclass_accuracy

from polymodal.base.errors import PolymodalError
from polymodal.metrics.class_accuracy import per_class, top1

SEEN = torch.tensor([True, True, False, False, False])


@pytest.fixture
def case():
    """Scores that favour the own class a little and seen classes a lot."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(5, (200,), generator=generator)
    scores = torch.randn(200, 5, generator=generator)
    scores[torch.arange(200), labels] += 1.5
    return scores + 2.0 * SEEN, labels


def slowly(scores, labels, among):
    shares = []
    for label in set(labels.tolist()):
        rows = [row for row in range(len(labels)) if labels[row] == label]
        hits = 0
        for row in rows:
            guess = max((c for c in range(5) if among[c]), key=lambda c: scores[row, c])
            hits += guess == label
        shares.append(hits / len(rows))
    return 100 * sum(shares) / len(shares)


def test_each_class_counts_alike(case):
    scores, labels = case
    unseen = ~SEEN[labels]
    found = top1(scores[unseen], labels[unseen], ~SEEN)
    assert found == pytest.approx(slowly(scores[unseen], labels[unseen], ~SEEN))
    assert 30 < found < 100


def test_a_class_without_images_is_no_class_to_average_over():
    """With torchmetrics' macro average it counts as one that is always wrong, once it is named."""
    labels, scores = torch.tensor([0, 0, 1]), torch.eye(3)[[2, 0, 1]]
    assert top1(scores, labels, torch.ones(3, dtype=torch.bool)) == 75
    assert multiclass_accuracy(scores, labels, 3, average="macro") == 0.5


def test_what_cannot_be_scored():
    labels = torch.tensor([0, 3])
    with pytest.raises(PolymodalError, match="Class 0 is not among those that may be named"):
        top1(torch.zeros(2, 5), labels, ~SEEN)
    with pytest.raises(PolymodalError, match="no images to recognise"):
        per_class(torch.empty(0, dtype=torch.bool), torch.empty(0, dtype=torch.long))
