"""What a generator is told of layouts, against loops in float64."""

import pytest
import torch

from ocgans import some_layouts
from polymodal.base.errors import PolymodalError
from polymodal.nn.layout_conditioning import Condition, LayoutConditioning, MaskNet, Objects
from polymodal.nn.layout_maps import boundaries, one_hot, placed


def conditioning(parts=("embeddings", "classes", "boundaries"), objects=True):
    return LayoutConditioning(
        classes=5, parts=parts, objects=objects, noise=3, dim=6, mask_width=4, mask_side=8
    ).double()


def test_masked_embeddings_are_a_mean_where_objects_overlap():
    layouts = some_layouts(2, objects=3, classes=5)
    masks = torch.rand(2, 3, 8, 8, dtype=torch.float64)
    embeddings = torch.randn(2, 3, 6, dtype=torch.float64)
    condition = Condition(
        layouts, classes=5, parts=("embeddings",), objects=Objects(embeddings, masks)
    )
    whole = placed(masks, layouts, 8)
    expected = torch.zeros(2, 6, 8, 8, dtype=torch.float64)
    for b in range(2):
        for y in range(8):
            for x in range(8):
                weights = [float(whole[b, o, y, x]) for o in range(3)]
                total = sum(w * embeddings[b, o] for o, w in enumerate(weights))
                expected[b, :, y, x] = total / max(sum(weights), 1)
    torch.testing.assert_close(condition.maps(8), expected)


def test_the_parts_stand_one_after_another():
    torch.manual_seed(0)
    layouts = some_layouts(2, objects=3, classes=5)
    net = conditioning()
    condition = net(layouts, torch.randn(2, 3, 3, dtype=torch.float64))
    maps = condition.maps(16)
    assert maps.shape == (2, net.channels, 16, 16)
    assert net.channels == 6 + 5 + 1
    assert torch.equal(maps[:, 6:11], one_hot(layouts, 5, 16))
    assert torch.equal(maps[:, 11:], boundaries(layouts, 16))
    assert condition.maps(16) is maps  # drawn once for all layers of a size


def test_objects_of_a_class_differ_by_their_noise_alone():
    layouts = some_layouts(1, objects=2, classes=1)
    net = conditioning().eval()
    told = net(layouts, torch.tensor([[[1.0, 2, 3], [3, 2, 1]]], dtype=torch.float64)).objects
    assert not torch.equal(told.embeddings[0, 0], told.embeddings[0, 1])
    told = net(layouts, torch.ones(1, 2, 3, dtype=torch.float64)).objects
    torch.testing.assert_close(told.embeddings[0, 0], told.embeddings[0, 1])


@pytest.mark.parametrize("side", [8, 16, 32])
def test_masks_are_shares_and_learn_all_over(side):
    net = MaskNet(6, width=4, side=side).double()
    masks = net(torch.randn(2, 3, 6, dtype=torch.float64))
    assert masks.shape == (2, 3, side, side)
    assert ((masks > 0) & (masks < 1)).all()
    masks.square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())


def test_absent_objects_change_nothing():
    layouts = some_layouts(1, objects=3, classes=5)
    layouts.there[0, 2] = False
    net = conditioning().eval()
    noise = torch.randn(1, 3, 3, dtype=torch.float64)
    before = net(layouts, noise).maps(16)
    layouts.boxes[0, 2] = torch.tensor([0.0, 0, 1, 1])
    layouts.classes[0, 2] = 4
    noise[0, 2] = 9
    assert torch.equal(net(layouts, noise).maps(16), before)


def test_of_classes_alone_nothing_is_told_of_objects():
    layouts = some_layouts(1, objects=2, classes=5)
    net = conditioning(parts=("classes",), objects=False)
    condition = net(layouts, torch.zeros(1, 2, 3, dtype=torch.float64))
    assert torch.equal(condition.maps(8), one_hot(layouts, 5, 8))
    assert not list(net.parameters())
    with pytest.raises(PolymodalError, match="Nothing is told of the objects"):
        condition.of_objects(8)
