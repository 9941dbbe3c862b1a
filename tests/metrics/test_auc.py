"""Areas under ROC curves against scikit-learn's and against plain resampling."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from polymodal.metrics.auc import auc, auc_scores, resampled


def test_areas_are_those_of_scikit_learn() -> None:
    chance = np.random.default_rng(0)
    for ties in (1000, 4):
        scores = np.round(ties * chance.random(60)) / ties
        true = chance.random(60) < 0.3
        assert auc(scores, true)[0] == pytest.approx(100 * roc_auc_score(true, scores))
        weights = chance.integers(0, 4, (5, 60)).astype(float)
        found = auc(scores, true, weights)
        plain = [100 * roc_auc_score(true, scores, sample_weight=own) for own in weights]
        assert found.tolist() == pytest.approx(plain)
    assert np.isnan(auc(scores, np.zeros(60, np.bool_))[0])


def test_patients_are_drawn_whole() -> None:
    weights = resampled(["a", "a", "b", "c"], 200)
    assert weights.shape == (200, 4)
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, 0] + weights[:, 2] + weights[:, 3] == 3).all()
    assert weights.mean(0).tolist() == pytest.approx([1] * 4, abs=0.15)


def test_the_interval_is_that_of_a_plain_bootstrap() -> None:
    chance = np.random.default_rng(0)
    targets = (chance.random((80, 2)) < 0.4).astype(np.float32)
    scores = targets + chance.normal(size=(80, 2))
    owners = [str(i) for i in range(80)]
    found = auc_scores(scores, targets, ["a", "b"], owners, "image", samples=1000)
    plain = []
    for _ in range(300):
        rows = chance.integers(0, 80, 80)
        plain.append(np.mean([roc_auc_score(targets[rows, k], scores[rows, k]) for k in (0, 1)]))
    low, high = 100 * np.percentile(plain, [2.5, 97.5])
    assert found["auc_image_low"] == pytest.approx(low, abs=1.5)
    assert found["auc_image_high"] == pytest.approx(high, abs=1.5)
    assert found["auc_image"] == pytest.approx((found["auc_image_a"] + found["auc_image_b"]) / 2)


def test_findings_that_nobody_or_everybody_has_are_left_out() -> None:
    targets = np.array([[0, 1, 1], [1, 1, 0.0]], np.float32)
    found = auc_scores(targets, targets, ["a", "b", "c"], ["p", "q"], "image", samples=0)
    assert found == {"auc_image": 100.0, "auc_image_a": 100.0, "auc_image_c": 100.0}
    assert auc_scores(targets[:1], targets[:1], ["a", "b", "c"], ["p"], "image") == {}
