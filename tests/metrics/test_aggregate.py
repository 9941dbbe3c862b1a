"""The decomposition of the KL against its closed form, torch's mixtures and numerical integrals."""

import math

import pytest
import torch
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.metrics.aggregate import aggregate_log_prob, decompose, grid_kl, standard


def posteriors(n: int, d: int, dtype: torch.dtype = torch.double) -> DiagonalGaussian:
    torch.manual_seed(0)
    return DiagonalGaussian(
        torch.randn(n, d, dtype=dtype), 0.7 * torch.randn(n, d, dtype=dtype) - 2
    )


def mixture(gaussians: DiagonalGaussian) -> MixtureSameFamily:
    """The aggregate, by torch."""
    parts = Independent(Normal(gaussians.mean, gaussians.std), 1)
    return MixtureSameFamily(Categorical(logits=torch.zeros(len(gaussians)).double()), parts)


def test_the_aggregate_is_the_even_mixture():
    gaussians = posteriors(30, 4)
    z = torch.cat([gaussians.sample(), 5 * torch.randn(20, 4, dtype=torch.double)])
    expected = mixture(gaussians).log_prob(z)
    torch.testing.assert_close(aggregate_log_prob(gaussians, z), expected)
    torch.testing.assert_close(aggregate_log_prob(gaussians, z, block=7), expected)


def test_narrow_posteriors_far_apart_keep_their_digits():
    """Variances of 1e-4 in 50 dimensions, as a VAE's are, given in single precision."""
    torch.manual_seed(0)
    gaussians = DiagonalGaussian(3 * torch.randn(200, 50), torch.full((200, 50), math.log(1e-4)))
    z = gaussians.sample()
    alone = gaussians.to(torch.double).log_prob(z)  # nobody else comes near
    torch.testing.assert_close(
        aggregate_log_prob(gaussians, z), alone - math.log(200), atol=1e-6, rtol=0
    )


def test_the_parts_make_the_analytic_kl():
    """004, eq. 17: posterior to aggregate and aggregate to prior are the KL term, sampling aside."""
    gaussians = posteriors(40, 3)
    zero = torch.zeros(3, dtype=torch.double)
    exact = gaussians.kl(DiagonalGaussian(zero, zero)).mean().item()
    found = decompose(gaussians, gaussians.sample(4000))
    parts = (found.posterior_to_aggregate, found.aggregate_to_prior)
    total = found.posterior_to_prior
    assert sum(part.value for part in parts) == pytest.approx(total.value, abs=1e-12)
    assert total.value == pytest.approx(exact, abs=4 * total.spread)
    assert total.spread < 0.01 < min(part.value for part in parts)
    assert parts[0].value < math.log(40)


def test_each_part_is_what_torch_says_by_its_own_samples():
    gaussians = posteriors(12, 2)
    found = decompose(gaussians, gaussians.sample(5000))
    z = mixture(gaussians).sample((60_000,))
    rate = mixture(gaussians).log_prob(z) - Normal(0.0, 1.0).log_prob(z).sum(-1)
    error = rate.std().item() / 60_000**0.5
    part = found.aggregate_to_prior
    assert part.value == pytest.approx(rate.mean().item(), abs=4 * (error + part.spread))


def test_any_density_can_stand_for_the_prior():
    """004, eq. 19: against a density that is the aggregate itself nothing is left of the second part."""
    gaussians = posteriors(20, 3)
    samples = gaussians.sample(50)
    itself = decompose(gaussians, samples, lambda z: mixture(gaussians).log_prob(z))
    assert itself.aggregate_to_prior.value == pytest.approx(0, abs=1e-12)
    other = DiagonalGaussian(torch.full((3,), 0.5).double(), torch.full((3,), 0.3).double())
    exact = gaussians.kl(other).mean().item()
    found = decompose(
        gaussians,
        gaussians.sample(3000),
        lambda z: Normal(other.mean, other.std).log_prob(z).sum(-1),
    )
    sum_of_parts = found.posterior_to_aggregate.value + found.aggregate_to_prior.value
    assert sum_of_parts == pytest.approx(exact, abs=4 * found.posterior_to_prior.spread)


def test_posteriors_that_are_all_the_same_tell_nothing():
    one = DiagonalGaussian(torch.ones(9, 2), torch.zeros(9, 2))
    found = decompose(one, one.sample(3))
    assert found.posterior_to_aggregate.value == pytest.approx(0, abs=1e-9)


def test_posteriors_that_never_meet_tell_all():
    far = DiagonalGaussian(100 * torch.arange(8.0)[:, None], torch.zeros(8, 1))
    found = decompose(far, far.sample(3))
    assert found.posterior_to_aggregate.value == pytest.approx(math.log(8))


def test_a_reference_in_single_precision_is_taken_as_it_is():
    gaussians = posteriors(10, 2, torch.float32)
    samples = gaussians.sample(20)
    single = decompose(gaussians, samples, lambda z: standard(z).float())
    double = decompose(gaussians, samples)
    assert single.aggregate_to_prior.value == pytest.approx(
        double.aggregate_to_prior.value, abs=1e-5
    )


def plane(mean: tuple[float, float], std: float, wide: float = 10, cells: int = 241):
    axis = torch.linspace(-wide, wide, cells, dtype=torch.double)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    return -0.5 * ((x - mean[0]).square() + (y - mean[1]).square()) / std**2


def test_a_kl_on_a_grid_is_that_of_the_densities():
    p, q = plane((0.5, -1.0), 0.7), plane((-0.5, 1.0), 1.5)
    ratio = (0.7 / 1.5) ** 2
    exact = ratio - 1 - math.log(ratio) + 0.5 * (1 + 4) / 1.5**2
    assert grid_kl(p + 3, q - 8) == pytest.approx(exact, abs=1e-6)  # factors do not count
    assert grid_kl(p, p) == 0


def test_a_hole_in_the_other_density_is_infinitely_far():
    p = plane((0.0, 0.0), 1.0)
    hole = p.clone()
    hole[120, 120] = -torch.inf
    assert grid_kl(p, hole) == math.inf
    assert 0 < grid_kl(hole, p) < 1e-2


def test_a_grid_that_is_too_small_is_refused():
    with pytest.raises(PolymodalError, match=r"7\.8% of a density lies on the rim"):
        grid_kl(plane((0.0, 0.0), 1.0, cells=50), torch.zeros(50, 50))
