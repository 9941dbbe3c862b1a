"""What holds of every measure for any Gaussians: symmetry, zero for equals, the triangle inequality."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polymodal.maths.diagonal_gaussian import HIGH, LOW, DiagonalGaussian
from polymodal.maths.similarity import kl, measure, min_kl, wasserstein

number = st.floats(-5, 5, width=32)
log_var = st.floats(math.log(LOW), math.log(HIGH))


@st.composite
def batches(draws, count):
    """Some Gaussians of one width."""
    d = draws(st.integers(1, 4))
    rows = [draws(st.lists(number, min_size=d, max_size=d)) for _ in range(count)]
    widths = [draws(st.lists(log_var, min_size=d, max_size=d)) for _ in range(count)]
    return DiagonalGaussian(torch.tensor(rows).double(), torch.tensor(widths).double())


@given(batches(4))
@pytest.mark.parametrize(
    "name", ["min_kl", "wasserstein", "squared_wasserstein", "csd", "bhattacharyya"]
)
@settings(max_examples=50, deadline=None)
def test_symmetric_measures_are_symmetric(name, gaussians):
    scores = measure(name)(gaussians[:2], gaussians[2:])
    swapped = measure(name)(gaussians[2:], gaussians[:2]).T
    torch.testing.assert_close(scores, swapped, rtol=1e-6, atol=1e-6)


@given(batches(3))
@settings(max_examples=50, deadline=None)
def test_mahalanobis_is_the_same_either_way_round(gaussians):
    mahalanobis = measure("mahalanobis")
    scores = mahalanobis(gaussians.mean[:1], gaussians[1:])
    torch.testing.assert_close(
        scores, mahalanobis(gaussians[1:], gaussians.mean[:1]).T, atol=1e-6, rtol=1e-6
    )


@given(batches(3))
@pytest.mark.parametrize("name", ["kl", "min_kl", "bhattacharyya", "wasserstein"])
@settings(max_examples=50, deadline=None)
def test_a_divergence_is_zero_for_equals_alone(name, gaussians):
    scores = measure(name)(gaussians, gaussians)
    assert (scores <= 1e-12).all()
    assert (scores.diagonal().abs() < 1e-5).all()
    apart = torch.cdist(*[torch.cat([gaussians.mean, gaussians.log_var], 1)] * 2) > 1e-2
    assert (scores[apart] < -1e-9).all()


@given(batches(5))
@settings(max_examples=50, deadline=None)
def test_min_kl_is_no_farther_than_kl_either_way(gaussians):
    x, y = gaussians[:2], gaussians[2:]
    assert (min_kl(x, y) >= kl(x, y) - 1e-9).all()
    assert (min_kl(x, y) >= kl(y, x).T - 1e-9).all()


@given(batches(4))
@settings(max_examples=100, deadline=None)
def test_wasserstein_keeps_the_triangle_inequality(gaussians):
    distance = -wasserstein(gaussians, gaussians)
    around = distance[:, :, None] + distance[None]  # from i by j to k
    assert (distance[:, None] <= around + 1e-5).all()


@given(batches(4), st.floats(-3, 3), st.floats(0.2, 4))
@settings(max_examples=50, deadline=None)
def test_kl_does_not_see_shift_or_scale(gaussians, shift, scale):
    moved = DiagonalGaussian(
        scale * (gaussians.mean + shift), gaussians.log_var + 2 * math.log(scale)
    )
    expected = kl(gaussians[:2], gaussians[2:])
    torch.testing.assert_close(kl(moved[:2], moved[2:]), expected, rtol=1e-6, atol=1e-6)
