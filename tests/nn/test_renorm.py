"""Batch renormalisation: batch norm before its moments settle, the running ones' after, and its gradient."""

import torch
from torch import nn

from polymodal.nn.dense import SharedDecoder
from polymodal.nn.renorm import MOMENTUM, SCALES, SETTLED, SHIFTS, BatchRenorm


def settled(features=3):
    """A layer whose running moments are trusted."""
    layer = BatchRenorm(features).double()
    layer.num_batches_tracked.fill_(SETTLED)
    layer.running_mean.copy_(torch.linspace(-0.2, 0.3, features))
    layer.running_var.copy_(torch.linspace(0.8, 1.5, features))
    with torch.no_grad():
        layer.weight.copy_(torch.linspace(1, 2, features))
        layer.bias.copy_(torch.linspace(-1, 1, features))
    return layer


def test_it_is_batch_norm_until_its_moments_have_settled():
    torch.manual_seed(0)
    x = 2 + 3 * torch.randn(16, 3, dtype=torch.double)
    ours, theirs = BatchRenorm(3).double(), nn.BatchNorm1d(3).double()
    torch.testing.assert_close(ours(x), theirs(x))


def test_settled_it_gives_in_training_what_it_gives_in_testing():
    torch.manual_seed(0)
    x = torch.randn(16, 3, dtype=torch.double)
    layer = settled()
    tested = layer.eval()(x)
    torch.testing.assert_close(layer.train()(x), tested)
    part = settled().train()(x[:4])  # and so for any other batch that a picture may be in
    torch.testing.assert_close(part, tested[:4])


def test_the_gradient_knows_the_moments_of_the_batch():
    """A shift of the whole batch changes nothing that gradients see, as in batch norm."""
    torch.manual_seed(0)
    x = torch.randn(16, 3, dtype=torch.double, requires_grad=True)
    layer = settled().train()
    out = layer(x)
    torch.autograd.backward(out, torch.randn_like(out))
    assert x.grad is not None
    torch.testing.assert_close(x.grad.sum(0), torch.zeros(3, dtype=torch.double))
    assert x.grad.abs().max() > 0.1


def test_a_batch_far_from_the_running_moments_is_held_near_its_own():
    layer = settled().train()
    x = 1e6 * torch.randn(16, 3, dtype=torch.double) + 1e6
    scale, shift = layer.corrections(x.mean(0), x.std(0))
    assert scale.tolist() == [SCALES] * 3
    assert shift.tolist() == [SHIFTS] * 3


def test_running_moments_follow_a_hundredth_of_a_batch_and_quicker_at_first():
    x = torch.randn(64, 2, dtype=torch.double)
    for begun, pace in ((SETTLED, MOMENTUM), (0, 10 * MOMENTUM)):
        layer = BatchRenorm(2).double().train()
        layer.num_batches_tracked.fill_(begun)
        layer(x)
        torch.testing.assert_close(layer.running_mean, pace * x.mean(0))
        torch.testing.assert_close(
            layer.running_var, 1 - pace + pace * x.var(0, correction=0), rtol=1e-6, atol=1e-6
        )
        assert layer.num_batches_tracked == begun + 1


def test_the_shared_networks_take_it_by_name():
    decoder = SharedDecoder(latent=2, code=7, hidden=5, norm="renorm")
    layers = [m for m in decoder.modules() if isinstance(m, nn.BatchNorm1d)]
    assert len(layers) == 4
    assert all(isinstance(m, BatchRenorm) for m in layers)
