"""Likelihoods against torch.distributions in float64, at their extremes, and in half precision."""

import math

import pytest
import torch
from torch.distributions import Beta as TorchBeta
from torch.distributions import Laplace as TorchLaplace
from torch.distributions import Normal

from polymodal.base.errors import PolymodalError
from polymodal.maths.likelihoods import Beta, Gaussian, Laplace, Logistic, likelihood_named

KINDS = [Beta(), Beta(concentration=30.0, squash=0.05), Gaussian(), Laplace(), Logistic()]


def drawn(likelihood, scale=2.0, size=16):
    """Logits and pictures at random, bytes 0 and 255 among them."""
    generator = torch.manual_seed(0)
    logits = scale * torch.randn(3, likelihood.parameters, size, size, generator=generator)
    images = torch.randint(0, 256, (3, 3, size, size), dtype=torch.uint8, generator=generator)
    images[:, :, 0], images[:, :, 1] = 0, 255
    return logits, images


def exact(likelihood, logits, images):
    """The same likelihood by torch.distributions, pixel by pixel in float64."""
    x = (images.double() + 0.5) / 256
    m = logits[:, :3].double().sigmoid()
    if isinstance(likelihood, Beta):
        m = likelihood.squash + (1 - 2 * likelihood.squash) * m
        both = likelihood.concentration * m, likelihood.concentration * (1 - m)
        return TorchBeta(*both).log_prob(x)
    if isinstance(likelihood, Gaussian):
        return Normal(m, likelihood.std).log_prob(x)
    if isinstance(likelihood, Laplace):
        return TorchLaplace(m, likelihood.scale).log_prob(x)
    scale = torch.exp(-math.log(1024) * (-logits[:, 3:].double()).sigmoid())
    lower, upper = ((images.double() / 256 + edge - m) / scale for edge in (0, 1 / 256))
    lower, upper = lower.where(images > 0, -math.inf), upper.where(images < 255, math.inf)
    # above the mean, what is left there, which is not rounded away
    mass = torch.where(
        lower > 0, (-lower).sigmoid() - (-upper).sigmoid(), upper.sigmoid() - lower.sigmoid()
    )
    return mass.log()


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_it_is_that_of_torch_in_float64(likelihood):
    logits, images = drawn(likelihood, scale=0.5)
    found = likelihood.log_prob(logits, images)
    assert found.dtype == torch.float32
    expected = exact(likelihood, logits, images).sum((1, 2, 3))
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_its_gradient_is_that_of_torch_in_float64(likelihood):
    logits, images = drawn(likelihood, scale=0.5)
    logits.requires_grad_()
    (found,) = torch.autograd.grad(likelihood.log_prob(logits, images).sum(), logits)
    (expected,) = torch.autograd.grad(exact(likelihood, logits, images).sum(), logits)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_it_is_finite_at_the_extremes_and_so_are_its_gradients(likelihood):
    for value in (-100.0, 0.0, 100.0):
        for byte in (0, 128, 255):
            logits = torch.full((1, likelihood.parameters, 4, 4), value, requires_grad=True)
            images = torch.full((1, 3, 4, 4), byte, dtype=torch.uint8)
            found = likelihood.log_prob(logits, images)
            found.backward()
            assert found.isfinite().all()
            assert logits.grad.isfinite().all()


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_half_precision_logits_are_computed_in_full(likelihood):
    logits, images = drawn(likelihood, scale=0.5)
    half = logits.bfloat16()
    found = likelihood.log_prob(half, images)
    assert found.dtype == likelihood.mean(half).dtype == torch.float32
    expected = exact(likelihood, half, images).sum((1, 2, 3))
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=0)


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_pictures_are_independent_and_nearer_is_likelier(likelihood):
    logits, images = drawn(likelihood)
    whole = likelihood.log_prob(logits, images)
    alone = likelihood.log_prob(logits[1:2], images[1:2])
    torch.testing.assert_close(alone, whole[1:2])
    mean = likelihood.mean(logits)
    assert mean.shape == images.shape
    assert 0 <= mean.min() < mean.max() <= 1
    own = (256 * mean).clamp(0, 255).to(torch.uint8)
    assert (likelihood.log_prob(logits, own) > whole).all()


@pytest.mark.parametrize("likelihood", KINDS[:-1], ids=repr)
def test_its_mean_is_that_of_its_density(likelihood):
    """By all 256 bytes, weighed by their densities, well inside the range."""
    logits = torch.tensor([-0.4, 0.0, 0.3]).view(1, 3, 1, 1)
    bytes = torch.arange(256, dtype=torch.uint8).view(256, 1, 1, 1).expand(-1, 3, 1, 1)
    weight = exact(likelihood, logits.expand(256, -1, 1, 1), bytes).exp()
    x = (bytes.double() + 0.5) / 256
    found = (weight * x).sum(0) / weight.sum(0)
    torch.testing.assert_close(found.float(), likelihood.mean(logits)[0], rtol=0, atol=0.01)


@pytest.mark.parametrize("scale", [-100.0, -1.0, 0.0, 3.0, 100.0])
@pytest.mark.parametrize("place", [-100.0, -2.0, 0.3, 100.0])
def test_the_probabilities_of_the_256_bytes_sum_to_one(place, scale):
    logits = torch.tensor([place] * 3 + [scale] * 3).view(1, 6, 1, 1).expand(256, -1, 1, 1)
    bytes = torch.arange(256, dtype=torch.uint8).view(256, 1, 1, 1).expand(-1, 3, 1, 1)
    total = Logistic().log_prob(logits, bytes).div(3).exp().sum()  # three colours alike
    assert total.item() == pytest.approx(1, abs=1e-4)


def test_names():
    assert likelihood_named("beta") == Beta(concentration=100.0, squash=0.01)
    assert [type(likelihood_named(name)) for name in ("gaussian", "laplace", "logistic")] == [
        Gaussian,
        Laplace,
        Logistic,
    ]
    with pytest.raises(PolymodalError, match=r"Unknown likelihood 'betta'\. Did you mean 'beta'\?"):
        likelihood_named("betta")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta(concentration=0.0), "The concentration of a Beta .* positive.*found 0.0"),
        (lambda: Beta(squash=0.0), "squash lies between 0 and 0.5; found 0.0"),
        (lambda: Beta(squash=0.5), "squash lies between 0 and 0.5; found 0.5"),
        (lambda: Gaussian(std=-1.0), "The standard deviation of a Gaussian .*found -1.0"),
        (lambda: Laplace(scale=math.inf), "The scale of a Laplace .*found inf"),
    ],
)
def test_impossible_settings_are_refused(make, message):
    with pytest.raises(PolymodalError, match=message):
        make()
