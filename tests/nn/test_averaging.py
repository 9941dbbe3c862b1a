"""The running mean of a module's weights."""

import pytest
import torch
from torch import nn

from polymodal.nn.averaging import Average


def test_weights_are_averaged_and_buffers_copied():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    average = Average(net, 0.5)
    expected = net[0].weight.detach().clone()
    for step in range(12):
        with torch.no_grad():
            net[0].weight.add_(torch.randn(3, 2))
        net(torch.randn(4, 2))
        average.follow(net, step)
        kept = min(0.5, (1 + step) / (10 + step))
        expected = kept * expected + (1 - kept) * net[0].weight.detach()
    torch.testing.assert_close(average.module[0].weight, expected)
    assert torch.equal(average.module[1].running_mean, net[1].running_mean)
    assert int(average.module[1].num_batches_tracked) == 12
    assert not any(p.requires_grad for p in average.parameters())


def test_at_first_little_is_kept():
    net = nn.Linear(1, 1)
    average = Average(net, 0.999)
    with torch.no_grad():
        net.weight.fill_(10.0)
        average.module.weight.zero_()
    average.follow(net, 0)
    assert average.module.weight.item() == pytest.approx(9.0)
