"""The thesis's encoders: the sizes that it gives, and windows as gradients show them."""

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.scratch import alex, basic

MAKE = {"basic": basic, "alex": lambda size=112: alex(size, hidden=64)}


@pytest.mark.parametrize(
    ("make", "local", "last", "unpooled"),
    [
        (basic, (256, 14, 14), (1024, 3, 3), (1024, 3, 3)),
        (MAKE["alex"], (384, 27, 27), (192, 6, 6), (192, 13, 13)),
    ],
)
def test_sizes_of_the_thesis(make, local, last, unpooled):
    """003, A.2, for crops of 112×112."""
    found = make().eval()(torch.rand(2, 3, 112, 112))
    assert found.whole.shape == (2, 1024)
    assert found.local.shape[1:] == local
    assert found.last.shape[1:] == last
    assert found.unpooled.shape[1:] == unpooled
    assert found.whole.min() >= 0  # after the ReLU


def test_the_table_of_alexnet():
    """003, Table A.3, with its 4096 features where they are asked for."""
    linear = [m for m in alex(dim=4096).modules() if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in linear] == [(6912, 4096), (4096, 4096)]


@pytest.mark.parametrize("make", [basic, alex])
def test_dropout_stands_before_each_linear_layer_alone(make):
    encoder = make(64, 16, slim=16, dropout=0.5)
    kinds = [type(m) for m in encoder.modules() if isinstance(m, nn.Linear | nn.Dropout)]
    assert kinds == [nn.Dropout, nn.Linear] * (1 if make is basic else 2)
    pictures = torch.rand(8, 3, 64, 64)
    first, second = (encoder.train()(pictures) for _ in range(2))
    assert torch.equal(first.last, second.last)
    assert not torch.equal(first.whole, second.whole)
    assert torch.equal(encoder.eval()(pictures).whole, encoder(pictures).whole)


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_window_is_what_a_place_depends_on(name, layers):
    """The pixels whose gradient is not zero, with every weight and slope at one."""
    encoder = MAKE[name](64)
    for module in encoder.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.ones_(module.weight)
    window, side = encoder.window(layers), encoder.side(64, layers)
    images = torch.rand(1, 3, 64, 64, requires_grad=True)
    maps = images
    for layer, pool in zip(encoder.layers[:layers], encoder.pools, strict=False):
        maps = layer[0](maps)
        if isinstance(pool, nn.MaxPool2d):  # whose gradient would see one pixel alone
            maps = nn.functional.avg_pool2d(maps, pool.kernel_size, pool.stride)
    assert maps.shape[-1] == side
    place = side // 2
    maps[0, 0, place, place].backward()
    rows = images.grad[0, 0].abs().sum(1).nonzero().flatten()
    first = window.start + place * window.step
    assert rows.tolist() == list(range(first, first + window.size))


def test_windows_before_and_after_the_last_pooling():
    """The thesis speaks of 65 and 85 pixels (A.5); its table gives 61 and 77."""
    encoder = MAKE["alex"]()
    assert encoder.window(6, pooled=False).size == 61
    assert encoder.window(6).size == 77


def test_slim_encoders():
    assert basic(slim=16)(torch.rand(2, 3, 112, 112)).local.shape[1] == 16
    assert alex(slim=16)(torch.rand(2, 3, 112, 112)).local.shape[1] == 24
    with pytest.raises(PolymodalError, match="Of 64 maps none is left, 100 times fewer"):
        basic(slim=100)


@pytest.mark.parametrize("name", MAKE)
def test_pictures_too_small_are_refused(name):
    with pytest.raises(PolymodalError, match="too small for this encoder"):
        MAKE[name](16)
