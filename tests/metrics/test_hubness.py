"""Hubness against sorting, scipy's skewness and random draws."""

import numpy as np
import pytest
import scipy.stats
import torch

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import cosine, kl, turned
from polymodal.metrics.hubness import (
    chance_skewness,
    hubness,
    hubness_symptom,
    k_occurrence,
    skewness,
)


def gaussians(count, seed):
    draw = torch.Generator().manual_seed(seed)
    mean, log_var = (torch.randn(count, 6, generator=draw, dtype=torch.double) for _ in "ab")
    return DiagonalGaussian(mean, log_var)


def naive(scores, k):
    counts = np.zeros(scores.shape[1], int)
    for row in scores.numpy():
        counts[np.argsort(-row)[:k]] += 1
    return counts


@pytest.mark.parametrize("block", [None, 1, 7, 100])
@pytest.mark.parametrize("k", [1, 5, 60])
def test_occurrences_are_those_of_sorting(k, block):
    queries, items = gaussians(30, 0), gaussians(50, 1)
    found = k_occurrence(kl, queries, items, k, block)
    assert found.tolist() == naive(kl(queries, items), k).tolist()
    assert found.sum() == 30 * min(k, 50)


def test_occurrences_leave_no_gradient_behind():
    queries = torch.randn(4, 3, requires_grad=True)
    assert k_occurrence(cosine, queries, queries, 1).tolist() == [1, 1, 1, 1]


def test_skewness_is_scipys():
    torch.manual_seed(0)
    counts = torch.poisson(torch.full((300,), 2.0)).long()
    assert skewness(counts) == pytest.approx(scipy.stats.skew(counts.numpy()))
    assert skewness(torch.full((5,), 3)) == 0


@pytest.mark.parametrize(("queries", "items", "k"), [(100, 500, 10), (500, 100, 10), (50, 10, 7)])
def test_chance_is_what_random_scores_reach(queries, items, k):
    assert chance_skewness(queries, items, k) == pytest.approx(
        float(scipy.stats.binom(queries, k / items).stats("s"))
    )
    torch.manual_seed(0)
    if items < 50:  # too few for a stable sample skewness
        return
    found = [
        skewness(torch.rand(queries, items).topk(k).indices.flatten().bincount(minlength=items))
        for _ in range(40)
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert chance_skewness(queries, items, k) == pytest.approx(np.mean(found), abs=4 * error)


def test_chance_where_all_are_found():
    assert chance_skewness(20, 5, 10) == 0


def test_both_ways_are_those_of_the_score_matrix():
    images, captions = gaussians(20, 2), gaussians(60, 3)
    found = hubness(kl, images, captions, k=5)
    scores = kl(images, captions)
    for way, table in (("i2t", scores), ("t2i", scores.T)):
        counts = naive(table, 5)
        assert found[f"{way}_hubness"] == pytest.approx(scipy.stats.skew(counts))
        assert found[f"{way}_hub"] == pytest.approx(counts.max() / len(table))
        assert found[f"{way}_unseen"] == pytest.approx((counts == 0).mean())
    assert found["t2i_hubness_chance"] == chance_skewness(60, 20, 5)
    plain = hubness(lambda a, b: kl(a, b), images, captions, k=5)  # no lifting: `turned` transposes
    assert plain == pytest.approx(found)
    assert k_occurrence(turned(kl), captions, images, 5).tolist() == naive(scores.T, 5).tolist()


def test_hubs_are_named_and_their_absence_is_not():
    torch.manual_seed(0)
    images = torch.nn.functional.normalize(torch.randn(200, 4), dim=1)
    assert hubness_symptom(hubness(cosine, images, images)) is None
    captions = images.clone()

    def favourites(a, b):
        """Captions 0 to 4 are near every image."""
        scores = cosine(a, b)
        return scores + 9 * (b[None, :, :] == captions[:5, None, :]).all(-1).any(0)

    words = hubness_symptom(hubness(favourites, images, captions))
    assert "one caption is among the first ten for 100% of the images" in words
    assert "one image is" not in words and "Train longer" in words
