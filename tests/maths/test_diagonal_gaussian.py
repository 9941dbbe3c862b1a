"""Gaussians against torch.distributions and draws; bounds of variances; slicing, joining, moving."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Independent, Normal, kl_divergence

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian, clamped, spherical, squashed


@pytest.fixture
def gaussians():
    torch.manual_seed(0)
    return DiagonalGaussian(
        torch.randn(5, 3, dtype=torch.double), torch.randn(5, 3, dtype=torch.double)
    )


def reference(gaussians):
    return Independent(Normal(gaussians.mean, gaussians.std), 1)


def test_entropy_and_kl_equal_torch_distributions(gaussians):
    other = gaussians[[1, 2, 3, 4, 0]]
    torch.testing.assert_close(gaussians.entropy(), reference(gaussians).entropy())
    expected = kl_divergence(reference(gaussians), reference(other))
    torch.testing.assert_close(gaussians.kl(other), expected)
    assert gaussians.kl(gaussians).abs().max() == 0
    torch.testing.assert_close(gaussians.log_det(), gaussians.var.prod(-1).log())


def test_entropy_is_the_expected_surprise_of_a_draw(gaussians):
    surprise = -reference(gaussians).log_prob(gaussians.sample(100_000)).mean(0)
    torch.testing.assert_close(gaussians.entropy(), surprise, rtol=0, atol=0.03)


def test_draws_have_the_moments_and_carry_gradients(gaussians):
    draws = gaussians.sample(100_000)
    assert draws.shape == (100_000, 5, 3)
    torch.testing.assert_close(draws.mean(0), gaussians.mean, rtol=0, atol=0.05)
    torch.testing.assert_close(draws.var(0), gaussians.var, rtol=0.03, atol=0)
    mean = gaussians.mean.clone().requires_grad_()
    log_var = gaussians.log_var.clone().requires_grad_()
    one = DiagonalGaussian(mean, log_var).sample()
    one.sum().backward()
    assert one.shape == (5, 3)
    assert torch.equal(mean.grad, torch.ones_like(mean))
    torch.testing.assert_close(log_var.grad, 0.5 * (one - mean).detach())


def test_the_product_is_proportional_to_the_product_of_densities(gaussians):
    other = gaussians[[1, 2, 3, 4, 0]]
    joint = reference(gaussians.product(other))
    points = torch.randn(50, 1, 3, dtype=torch.double)
    ratio = joint.log_prob(points) - sum(reference(g).log_prob(points) for g in (gaussians, other))
    torch.testing.assert_close(ratio, ratio[:1].expand_as(ratio))


def test_the_product_weighs_draws_as_importance_sampling_does(gaussians):
    other = DiagonalGaussian(gaussians.mean + 0.3, gaussians.log_var + 0.5)
    draws = gaussians.sample(200_000)
    weights = reference(other).log_prob(draws).softmax(0)[..., None]
    mean = (weights * draws).sum(0)
    torch.testing.assert_close(gaussians.product(other).mean, mean, rtol=0, atol=0.05)


def test_parts_of_a_batch(gaussians):
    assert len(gaussians) == 5
    assert gaussians.shape == (5, 3)
    assert torch.equal(gaussians[2].mean, gaussians.mean[2])
    for rows in (slice(1, 3), torch.tensor([4, 0]), gaussians.mean[:, 0] > 0):
        assert torch.equal(gaussians[rows].log_var, gaussians.log_var[rows])
    joined = DiagonalGaussian.join([gaussians[:2], gaussians[2:]])
    assert torch.equal(joined.mean, gaussians.mean)
    assert torch.equal(joined.log_var, gaussians.log_var)


def test_moves(gaussians):
    half = gaussians.to(torch.float16)
    assert half.dtype == half.log_var.dtype == torch.float16
    there = gaussians.to("meta")
    assert there.device == there.log_var.device == torch.device("meta")
    mean = gaussians.mean.clone().requires_grad_()
    assert not DiagonalGaussian(mean, gaussians.log_var).detach().mean.requires_grad


def test_mean_and_log_variance_have_one_shape():
    with pytest.raises(PolymodalError) as error:
        DiagonalGaussian(torch.zeros(2, 3), torch.zeros(3))
    assert str(error.value) == (
        "A Gaussian's mean and log-variance need one shape; found (2, 3) and (3,)."
    )


@settings(deadline=None)
@given(st.floats(-50, 50), st.floats(0.01, 1), st.floats(2, 100))
@pytest.mark.parametrize("bound", [clamped, squashed])
def test_bounds_hold_and_keep_order(bound, value, low, high):
    log_var = torch.tensor([value, value + 0.1], dtype=torch.double)
    var = bound(log_var, low, high).exp()
    assert (low * (1 - 1e-9) <= var).all()
    assert (var <= high * (1 + 1e-9)).all()
    assert var[0] <= var[1]


def test_clamped_is_exact_within_and_still_at_the_bounds():
    log_var = torch.tensor([-9.0, -2.0, 0.0, 2.0, 9.0], requires_grad=True)
    bounded = clamped(log_var)
    assert torch.equal(bounded[1:4], log_var[1:4])
    bounded.sum().backward()
    assert log_var.grad.tolist() == [0, 1, 1, 1, 0]


def test_squashed_is_the_identity_amid_the_range_and_never_still():
    log_var = torch.tensor([-9.0, 0.0, 9.0], requires_grad=True)
    squashed(log_var).sum().backward()
    assert log_var.grad[1] == 1
    assert (log_var.grad > 0).all()
    scaled = squashed(torch.tensor(math.log(2.0)), 1.0, 4.0)
    torch.testing.assert_close(scaled.exp(), torch.tensor(2.0))


@pytest.mark.parametrize("bound", [clamped, squashed])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (2.0, 1.0), (1.0, math.inf)])
def test_bounds_must_make_a_range(bound, low, high):
    with pytest.raises(PolymodalError) as error:
        bound(torch.zeros(3), low, high)
    assert str(error.value) == (
        f"Variances need bounds 0 < low < high; found low = {low} and high = {high}."
    )


def test_spherical_is_one_variance_with_the_same_determinant(gaussians):
    round_ones = DiagonalGaussian(gaussians.mean, spherical(gaussians.log_var))
    assert (round_ones.log_var == round_ones.log_var[:, :1]).all()
    torch.testing.assert_close(round_ones.log_det(), gaussians.log_det())


def test_a_batch_is_told_by_its_shape_not_by_its_numbers():
    batch = DiagonalGaussian(torch.zeros(2, 300), torch.zeros(2, 300))
    assert repr(batch) == "DiagonalGaussian(2 × 300, torch.float32, cpu)"
