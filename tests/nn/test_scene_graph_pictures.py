"""Encoders of pictures for scene-graph similarity: what learns, what is frozen, what gradients reach."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.nn.scene_graph_pictures import PictureEncoder, describe_pictures
from toys import write_backbone


def test_a_convnet_learns_along():
    torch.manual_seed(0)
    net = PictureEncoder(describe_pictures("convnet", 8), 6)
    pixels = (torch.rand(2, 3, 32, 32) * 255).requires_grad_()
    found = net(pixels)
    assert (found.each.shape, found.whole.shape) == ((2, 16, 6), (2, 6))
    (found.each.square().sum() + found.whole.square().sum()).backward()
    idle = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not idle
    assert pixels.grad.abs().sum() > 0


def test_a_frozen_network_is_no_part_of_the_weights_and_passes_gradients(tmp_path):
    description = describe_pictures(str(write_backbone(tmp_path, "resnet")), 8)
    net = PictureEncoder(description, 6)
    pixels = (torch.rand(2, 3, 32, 32) * 255).requires_grad_()
    found = net(pixels)
    assert found.each.shape[::2] == (2, 6)
    found.each.square().sum().backward()
    assert set(net.state_dict()) == {"places.weight", "places.bias", "whole.weight", "whole.bias"}
    assert pixels.grad.abs().sum() > 0


def test_a_network_without_maps_is_refused(tmp_path):
    with pytest.raises(PolymodalError, match="gives no maps, so it tells nothing of places"):
        describe_pictures(str(write_backbone(tmp_path, "vit")), 8)
