"""Bounds against a linear-Gaussian model, whose log p(x) is known."""

import math

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal

from polymodal.base.errors import PolymodalError
from polymodal.metrics.bounds import importance_bound, lower_bound


class Linear:
    """x = A z + noise with z standard: log p(x) is a Gaussian's, and so is the true posterior."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.a = torch.randn(5, 2, dtype=torch.double)
        self.noise = 0.8
        z = torch.randn(200, 2, dtype=torch.double)
        self.x = z @ self.a.T + self.noise * torch.randn(200, 5, dtype=torch.double)

    def truth(self) -> float:
        covariance = self.a @ self.a.T + self.noise**2 * torch.eye(5, dtype=torch.double)
        exact = MultivariateNormal(torch.zeros(5, dtype=torch.double), covariance)
        return exact.log_prob(self.x).mean().item()

    def log_weights(self, samples: int, shift: float) -> torch.Tensor:
        """From the true posterior, moved off its place by `shift` and made as wide as a diagonal is."""
        precision = torch.eye(2, dtype=torch.double) + self.a.T @ self.a / self.noise**2
        centre = self.x @ self.a @ precision.inverse().T / self.noise**2 + shift
        q = Normal(centre, precision.diagonal().rsqrt().expand_as(centre))
        z = q.sample((samples,))
        prior = Normal(0.0, 1.0).log_prob(z).sum(-1)
        likelihood = Normal(z @ self.a.T, self.noise).log_prob(self.x).sum(-1)
        return prior + likelihood - q.log_prob(z).sum(-1)


@pytest.fixture(scope="module")
def model() -> Linear:
    return Linear()


def test_bounds_lie_below_the_truth_and_more_samples_bring_them_closer(model):
    truth = model.truth()
    weights = model.log_weights(5000, shift=0.3)
    plain = lower_bound(weights)
    few, some, many = (
        importance_bound(weights.reshape(-1, s, 200).transpose(0, 1).flatten(1))
        for s in (5, 50, 5000)
    )
    assert plain.value < truth - 10 * plain.spread
    assert plain.value < few.value < some.value < many.value
    assert many.value == pytest.approx(truth, abs=5 * many.spread)
    assert many.spread < 0.01


def test_the_gap_is_the_divergence_from_the_true_posterior(model):
    """log p(x) − E_q[log w] = KL(q(z|x) ‖ p(z|x)), here of two Gaussians whose means differ by a shift."""
    precision = torch.eye(2, dtype=torch.double) + model.a.T @ model.a / model.noise**2
    zero = torch.zeros(2, dtype=torch.double)
    q = MultivariateNormal(zero + 0.3, precision.diagonal().reciprocal().diag())
    p = MultivariateNormal(zero, precision.inverse())
    gap = torch.distributions.kl_divergence(q, p).item()
    found = lower_bound(model.log_weights(20_000, shift=0.3))
    assert model.truth() - found.value == pytest.approx(gap, abs=5 * found.spread)


@pytest.mark.parametrize("bound", [lower_bound, importance_bound])
def test_the_spread_is_what_other_samples_change(model, bound):
    repeated = [bound(model.log_weights(100, shift=0.1)) for _ in range(300)]
    deviation = torch.tensor([one.value for one in repeated]).std().item()
    assert sum(one.spread for one in repeated) / 300 == pytest.approx(deviation, rel=0.15)
    values = model.log_weights(4000, shift=0.1).mean(0)
    assert repeated[0].error == pytest.approx(values.std().item() / 200**0.5, rel=0.05)


def test_one_sample_makes_both_alike(model):
    weights = model.log_weights(1, shift=0.0)
    assert lower_bound(weights).value == pytest.approx(importance_bound(weights).value)
    assert lower_bound(weights).spread is importance_bound(weights).spread is None


def test_weights_far_below_what_a_float_can_hold_are_averaged():
    weights = torch.tensor([[-75000.0], [-75000.0 + math.log(3)]])
    assert importance_bound(weights).value == pytest.approx(-75000 + math.log(2), abs=1e-2)


def test_what_is_no_weight_is_refused():
    for bound in (lower_bound, importance_bound):
        with pytest.raises(PolymodalError, match=r"values of shape \(0, 3\)"):
            bound(torch.zeros(0, 3))
    with pytest.raises(PolymodalError, match="2 of 6 log-weights are not finite"):
        importance_bound(torch.tensor([[0.0, torch.nan, 1.0], [torch.inf, 0.0, 0.0]]))
