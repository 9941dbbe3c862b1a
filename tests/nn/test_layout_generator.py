"""Pictures from layouts: sizes, what gradients reach, what depends on what."""

import copy

import pytest
import torch

from ocgans import some_layouts
from polymodal.base.errors import PolymodalError
from polymodal.nn.layout_conditioning import LayoutConditioning
from polymodal.nn.layout_generator import LayoutGenerator, check_size, growing
from polymodal.nn.layout_norms import ObjectNorm, PixelNorm

PARTS = {
    "oc-gan": ("embeddings", "classes", "boundaries"),
    "lostgan": (),
    "spade": ("classes",),
}


def generator(kind: str = "oc-gan", size: int = 32) -> LayoutGenerator:
    torch.manual_seed(0)
    told = LayoutConditioning(
        classes=5,
        parts=PARTS[kind],
        objects=kind != "spade",
        noise=3,
        dim=6,
        mask_width=4,
        mask_side=8,
    )

    def norm(maps: int) -> torch.nn.Module:
        if kind == "lostgan":
            return ObjectNorm(maps, objects=6, momentum=0.1)
        return PixelNorm(maps, condition=told.channels, width=8, momentum=0.1)

    return LayoutGenerator(size=size, width=2, noise=7, conditioning=told, norm=norm, momentum=0.1)


def drawn(net: LayoutGenerator, layouts, seed: int = 0) -> torch.Tensor:
    chance = torch.Generator().manual_seed(seed)
    b, o = layouts.there.shape
    return net(layouts, torch.randn(b, 7, generator=chance), torch.randn(b, o, 3, generator=chance))


@pytest.mark.parametrize(("size", "blocks"), [(32, 3), (64, 4), (128, 5), (256, 6)])
def test_each_size_has_its_blocks(size, blocks):
    net = generator(size=size)
    assert len(net.blocks) == blocks
    pictures = drawn(net, some_layouts(2, objects=3, classes=5, dtype=torch.float32))
    assert pictures.shape == (2, 3, size, size)
    assert pictures.abs().max() < 1


def test_maps_grow_up_to_sixteen_widths():
    assert growing(256, 3) == [48, 48, 48, 24, 12, 6, 3]


@pytest.mark.parametrize("kind", PARTS)
def test_gradients_reach_every_weight(kind):
    net = generator(kind)
    layouts = some_layouts(4, objects=3, classes=5, dtype=torch.float32)
    layouts.classes[:] = torch.arange(12).view(4, 3) % 5  # every class
    (drawn(net, layouts) * torch.randn(4, 3, 32, 32)).sum().backward()
    idle = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not idle


@pytest.mark.parametrize("kind", PARTS)
def test_pictures_follow_the_layout(kind):
    """Each conditioning tells where objects are and of which class."""
    net = generator(kind).eval()
    layouts = some_layouts(1, objects=2, classes=5, dtype=torch.float32)
    moved, renamed = copy.deepcopy(layouts), copy.deepcopy(layouts)
    moved.boxes[0, 0] += torch.tensor([0.2, 0, 0.2, 0])
    renamed.classes[0, 0] = (renamed.classes[0, 0] + 1) % 5
    with torch.no_grad():
        before = drawn(net, layouts)
        assert torch.equal(drawn(net, layouts), before)
        assert not torch.equal(drawn(net, moved), before)
        assert not torch.equal(drawn(net, renamed), before)
        assert not torch.equal(drawn(net, layouts, seed=1), before)


@pytest.mark.parametrize("kind", PARTS)
def test_pictures_do_not_depend_on_what_is_not_there(kind):
    net = generator(kind).eval()
    layouts = some_layouts(1, objects=3, classes=5, dtype=torch.float32)
    layouts.there[0, 2] = False
    other = copy.deepcopy(layouts)
    other.boxes[0, 2], other.classes[0, 2] = torch.tensor([0.1, 0.1, 0.9, 0.9]), 4
    with torch.no_grad():
        assert torch.equal(drawn(net, layouts), drawn(net, other))


def test_every_layer_is_normalised_by_its_spectrum():
    net = generator()
    for layer in net.modules():
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
            assert torch.nn.utils.parametrize.is_parametrized(layer, "weight")
            for _ in range(50):
                weight = layer.weight  # an iteration each time
            largest = torch.linalg.matrix_norm(weight.flatten(1), 2)
            torch.testing.assert_close(largest, torch.ones(()), rtol=1e-2, atol=0)


def test_other_sizes_are_refused():
    with pytest.raises(
        PolymodalError, match=r"at 32, 64, 128 or 256 pixels a side, .* 100×100\. Add ',size=128'"
    ):
        check_size(100)
