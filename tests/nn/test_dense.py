"""The shared networks: against the formula by hand, bounded, and able to learn."""

import torch
from torch import nn

from polymodal.nn.dense import HIGH, LOW, SharedDecoder, SharedEncoder, Skip


def weights(network):
    """Its fully connected layers, in order."""
    return [m for m in network.modules() if isinstance(m, nn.Linear)]


def normal(x):
    """Batch norm as it begins, from the batch's own moments."""
    return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()


def by_hand(x, layers, skips):
    """Layers with batch norm and ReLU, those at `skips` beside a shortcut, and a last one without."""
    for i, layer in enumerate(layers[:-1]):
        y = normal(x @ layer.weight.T).relu()
        x = x + y if i in skips else y
    return x @ layers[-1].weight.T + layers[-1].bias


def test_the_encoder_is_three_layers_with_a_residual_connection():
    torch.manual_seed(0)
    encoder = SharedEncoder(inputs=6, latent=3, hidden=5).double()
    x = torch.randn(8, 6, dtype=torch.double)
    layers = weights(encoder)
    assert len(layers) == 3
    found, expected = encoder(x), by_hand(x, layers, skips={1})
    torch.testing.assert_close(found.mean, expected[:, :3], rtol=0, atol=1e-10)
    # near 0, where a posterior begins, the log-variance is the layer's own
    torch.testing.assert_close(found.log_var, expected[:, 3:], rtol=0.02, atol=1e-4)


def test_the_decoder_is_five_layers_with_two_residual_connections():
    torch.manual_seed(0)
    decoder = SharedDecoder(latent=2, code=7, hidden=5).double()
    z = torch.randn(8, 2, dtype=torch.double)
    layers = weights(decoder)
    assert len(layers) == 5
    assert sum(isinstance(m, Skip) for m in decoder.modules()) == 2
    assert decoder.dim == 7
    torch.testing.assert_close(decoder(z), by_hand(z, layers, {1, 3}), rtol=0, atol=1e-10)


def test_variances_stay_in_their_range_and_go_on_learning():
    encoder = SharedEncoder(inputs=4, latent=2, hidden=5)
    last = weights(encoder)[-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(torch.tensor([0.0, 0.0, -50.0, 50.0]))
    found = encoder(torch.randn(8, 4))
    assert found.var.min() >= LOW * (1 - 1e-4)
    assert found.var.max() <= HIGH * (1 + 1e-4)
    kl = found.kl(type(found)(torch.zeros(8, 2), torch.zeros(8, 2)))
    kl.sum().backward()
    assert kl.isfinite().all()
    assert last.bias.grad[2] < 0 < last.bias.grad[3]  # both back towards 1


def test_in_evaluation_no_row_sees_its_batch():
    decoder = SharedDecoder(latent=2, code=7, hidden=5).double().eval()
    z = torch.randn(8, 2, dtype=torch.double)
    torch.testing.assert_close(decoder(z[:1]), decoder(z)[:1], rtol=0, atol=1e-12)


def test_they_learn_a_code_of_two_numbers():
    torch.manual_seed(0)
    target = torch.randn(16, 10)
    encoder = SharedEncoder(inputs=10, latent=2, hidden=32)
    decoder = SharedDecoder(latent=2, code=10, hidden=32)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-2)
    for _ in range(200):
        loss = (decoder(encoder(target).mean) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
