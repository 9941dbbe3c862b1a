"""Accuracies of unseen classes, against loops."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.class_accuracy import best_handicap, generalised, harmonic, per_class, top1

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


def test_all_classes_may_be_named(case):
    scores, labels = case
    found = generalised(scores, labels, SEEN)
    everything = torch.ones(5, dtype=torch.bool)
    for name, rows in (("gzsl_seen", SEEN[labels]), ("gzsl_unseen", ~SEEN[labels])):
        assert found[name] == pytest.approx(slowly(scores[rows], labels[rows], everything))
    assert found["gzsl_harmonic"] == harmonic(found["gzsl_seen"], found["gzsl_unseen"])


def test_a_handicap_makes_up_for_the_favour(case):
    scores, labels = case
    handicap = best_handicap(scores, labels, SEEN)
    assert handicap == pytest.approx(2.0, abs=0.7)
    found = generalised(scores, labels, SEEN, handicap)["gzsl_harmonic"]
    for other in (0.0, 1.0, 3.0, 4.0):
        assert generalised(scores, labels, SEEN, other)["gzsl_harmonic"] <= found
    plain = generalised(scores, labels, SEEN)["gzsl_harmonic"]
    assert found > plain + 5


def test_what_cannot_be_scored():
    labels = torch.tensor([0, 3])
    with pytest.raises(PolymodalError, match="Class 0 is not among those that may be named"):
        top1(torch.zeros(2, 5), labels, ~SEEN)
    with pytest.raises(PolymodalError, match="no images to recognise"):
        per_class(torch.empty(0, dtype=torch.bool), torch.empty(0, dtype=torch.long))
    with pytest.raises(PolymodalError, match="no images to recognise"):
        generalised(torch.zeros(1, 5), torch.tensor([0]), SEEN)
