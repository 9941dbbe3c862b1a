"""Spectral norm against the singular values."""

import pytest
import torch
from torch import nn

from polymodal.nn.spectra import spectral_norm


@pytest.mark.parametrize("layer", [nn.Linear(7, 5), nn.Conv2d(3, 6, 3)])
def test_the_largest_singular_value_is_1(layer):
    torch.manual_seed(0)
    layer = spectral_norm(layer)
    for _ in range(100):
        weight = layer.weight
    torch.testing.assert_close(torch.linalg.matrix_norm(weight.flatten(1), 2), torch.ones(()))
    original = layer.parametrizations.weight.original.flatten(1)
    expected = original / torch.linalg.matrix_norm(original, 2)
    torch.testing.assert_close(weight.flatten(1), expected)


def test_gradients_are_those_of_the_quotient():
    """With the vectors as they are, W / uᵀWv."""
    torch.manual_seed(0)
    layer = spectral_norm(nn.Linear(4, 3)).double().eval()
    layer.parametrizations.weight.original.requires_grad_(False)
    spectrum = layer.parametrizations.weight[0]
    weight = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(spectrum, (weight,))


def test_two_uses_before_a_backward_pass():
    layer = spectral_norm(nn.Linear(4, 3)).train()
    x = torch.randn(2, 4)
    (layer(x) - layer(2 * x)).square().sum().backward()
    assert layer.parametrizations.weight.original.grad.isfinite().all()


def test_it_moves_in_training_alone():
    layer = spectral_norm(nn.Linear(9, 8)).eval()
    with torch.no_grad():
        layer.parametrizations.weight.original.normal_()
    assert torch.equal(layer.weight, layer.weight)
    layer.train()
    assert not torch.equal(layer.weight, layer.weight)


def test_autocast_leaves_it_in_float32():
    torch.manual_seed(0)
    layer = spectral_norm(nn.Linear(64, 64)).eval()
    exact = layer.weight
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.randn(2, 64)).dtype == torch.bfloat16
        assert torch.equal(layer.weight, exact)
