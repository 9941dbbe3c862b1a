"""Residual networks: against torch's own instance norm, in any layout and precision, and able to learn."""

import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d

from polymodal.base.errors import PolymodalError
from polymodal.maths.likelihoods import unit
from polymodal.nn.dense import SharedDecoder, SharedEncoder
from polymodal.nn.residual import (
    Convolution,
    ImageDecoder,
    ImageEncoder,
    ResidualBlock,
    Squares,
)
from polymodal.nn.text_coders import TextDecoder, TextEncoder
from toys import carry_out

IMAGES = torch.rand(4, 3, 32, 32, generator=torch.manual_seed(0))


def both(size=32, width=8, code=20, shrink=8, **options):
    """An encoder and a decoder that fit each other."""
    torch.manual_seed(0)
    shape = {"size": size, "width": width, "code": code, "shrink": shrink}
    return nn.Sequential(ImageEncoder(**shape), ImageDecoder(**shape, **options))


@pytest.mark.parametrize(
    ("size", "shrink"), [(16, 8), (32, 8), (40, 8), (64, 8), (112, 8), (12, 4), (112, 4)]
)
def test_shapes(size, shrink):
    encoder, decoder = both(size, width=4, shrink=shrink, parameters=6)
    code = encoder(torch.rand(2, 3, size, size))
    assert code.shape == (2, encoder.dim) == (2, 20)
    assert decoder(code).shape == (2, 6, size, size)


@pytest.mark.parametrize(("shrink", "shape"), [(8, (1, 12, 14, 14)), (4, (1, 8, 28, 28))])
def test_blocks_work_at_an_eighth_or_a_quarter_of_the_size(shrink, shape):
    sides = []
    net = both(112, width=4, shrink=shrink)
    for module in net.modules():
        if isinstance(module, ResidualBlock):
            module.register_forward_hook(lambda _, x, y: sides.append((x[0].shape, y.shape)))
    net(torch.rand(1, 3, 112, 112))
    assert sides == [(shape, shape)] * 6


def test_as_many_maps_are_flattened_as_are_asked_for():
    assert ImageEncoder(size=32, width=4, code=6, ends=7).head.weight.shape == (6, 7 * 4 * 4)


@pytest.mark.parametrize(("inputs", "outputs"), [(10, 12), (8, 16), (3, 8), (16, 1)])
@pytest.mark.parametrize("bias", [True, False])
def test_maps_of_zeros_change_no_convolution(inputs, outputs, bias):
    torch.manual_seed(0)
    ours = Convolution(inputs, outputs, 3, stride=2, padding=1, bias=bias).double()
    x = torch.randn(2, inputs, 7, 7, dtype=torch.double)
    theirs = nn.Conv2d.forward(ours, x)
    torch.testing.assert_close(ours(x), theirs, rtol=0, atol=1e-12)
    slopes = (torch.autograd.grad(y.square().sum(), ours.weight) for y in (ours(x), theirs))
    torch.testing.assert_close(*slopes, rtol=0, atol=1e-10)


def test_a_block_is_that_of_cyclegan_among_zeros():
    torch.manual_seed(0)
    block = ResidualBlock(4).double()
    first, second = (m.weight for m in block.modules() if isinstance(m, nn.Conv2d))
    x = torch.randn(2, 4, 5, 5, dtype=torch.double)
    norm = nn.InstanceNorm2d(4)
    y = norm(conv2d(x, first, padding=1)).relu()
    y = x + norm(conv2d(y, second, padding=1))
    torch.testing.assert_close(block(x), y, rtol=0, atol=1e-12)


def test_no_picture_sees_its_batch():
    net = both().double()
    whole = net(IMAGES.double())
    for row in range(4):
        alone = net(IMAGES[row : row + 1].double())[0]
        torch.testing.assert_close(alone, whole[row], rtol=0, atol=1e-10)


def test_the_layout_is_kept_and_changes_nothing():
    net, layout = both(), torch.channels_last
    plain = net(IMAGES)
    found = net.to(memory_format=layout)(IMAGES.to(memory_format=layout))
    assert found.is_contiguous(memory_format=layout)
    torch.testing.assert_close(found, plain, rtol=1e-3, atol=1e-4)


def test_half_precision_comes_near():
    net = both()
    plain = net(IMAGES)
    with torch.autocast("cpu", torch.bfloat16):
        found = net(IMAGES)
    assert found.dtype == torch.bfloat16
    assert (found - plain).square().mean() < 0.02 * plain.var()


def test_no_two_bytes_look_alike_in_half_precision():
    """And what is rounded is nothing at all: the network sees in training what it sees in use."""
    bytes = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16).expand(1, 3, 16, 16)
    seen = Squares()(unit(bytes))
    assert torch.equal(seen.bfloat16().float(), seen)
    assert seen[0, :12].unique().numel() == 256
    assert seen.min() == -255 / 256 and seen.max() == 255 / 256


COMPILED = """
import torch
from polymodal.maths.likelihoods import KINDS
from polymodal.nn.residual import ImageDecoder, ImageEncoder

images = torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8)
images = images.to(memory_format=torch.channels_last)
for make in KINDS.values():
    likelihood = make()
    net = torch.nn.Sequential(
        ImageEncoder(size=16, width=4, code=8),
        ImageDecoder(size=16, width=4, code=8, parameters=likelihood.parameters),
    ).to(memory_format=torch.channels_last)

    def learn(images):
        with torch.autocast("cpu", torch.bfloat16):
            logits = net(images / 255)
        return likelihood.log_prob(logits, images)

    found = torch.compile(learn, backend="eager", fullgraph=True)(images)
    torch.testing.assert_close(found, learn(images), rtol=1e-2, atol=1)
    found.sum().backward()
    assert all(p.grad.isfinite().all() for p in net.parameters())
"""


@pytest.mark.slow
def test_they_compile_whole_with_every_likelihood():
    """In a process of its own, as the checks of shapes at run time cannot be compiled."""
    carry_out(COMPILED)


def test_they_learn_four_pictures():
    """Squares of four places and colours, through 20 numbers."""
    images = torch.full((4, 3, 32, 32), 0.5)
    for i, colour in enumerate(torch.eye(4, 3)):
        top, left = 4 + 8 * (i // 2), 2 + 12 * (i % 2)
        images[i, :, top : top + 12, left : left + 12] = colour[:, None, None]
    net = both(32, width=16)
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(120):
        loss = (net(images).sigmoid() - images).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05 * images.var()


def test_the_whole_model_has_less_than_three_million_parameters():
    parts = (
        *both(112, width=32, code=200),
        TextEncoder(words=20), TextDecoder(words=20),
        SharedEncoder(inputs=400, latent=50), SharedDecoder(latent=50),
    )  # fmt: skip
    assert sum(p.numel() for part in parts for p in part.parameters()) < 3_000_000


@pytest.mark.parametrize("network", [ImageEncoder, ImageDecoder])
@pytest.mark.parametrize(("size", "nearest"), [(30, 32), (8, 16), (100, 96)])
def test_a_size_that_cannot_be_halved_three_times_is_refused(network, size, nearest):
    message = rf"multiple of 8 .* the data are {size}×{size}\. Add ',size={nearest}' to --data"
    with pytest.raises(PolymodalError, match=message):
        network(size=size)


@pytest.mark.parametrize("network", [ImageEncoder, ImageDecoder])
def test_other_sizes_of_blocks_are_refused(network):
    with pytest.raises(PolymodalError, match="4 or 8 times smaller in the blocks, not 2"):
        network(size=32, shrink=2)


@pytest.mark.parametrize("network", [ImageEncoder, ImageDecoder])
def test_a_width_of_nothing_is_refused(network):
    with pytest.raises(PolymodalError, match="1 map or more; found 0"):
        network(size=32, width=0)
