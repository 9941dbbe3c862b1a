"""Discriminators of patches and of objects: what they see, and what gradients reach."""

import pytest
import torch

from ocgans import some_layouts
from polymodal.nn.diff_augment import DiffAugment
from polymodal.nn.layout_discriminators import (
    LayoutDiscriminators,
    ObjectDiscriminator,
    PatchDiscriminators,
    object_crops,
)
from polymodal.nn.roi_align import roi_align


def discriminators(augment=None) -> LayoutDiscriminators:
    torch.manual_seed(0)
    return LayoutDiscriminators(
        PatchDiscriminators(2, seen=3 + 6, width=2), ObjectDiscriminator(5, 2), augment
    )


def seen(count: int = 2):
    layouts = some_layouts(count, objects=3, classes=5, dtype=torch.float32)
    layouts.there[0, 2] = False
    chance = torch.Generator().manual_seed(1)
    pictures = torch.rand(count, 3, 32, 32, generator=chance) * 2 - 1
    return pictures, torch.rand(count, 6, 32, 32, generator=chance), layouts


def test_patches_are_judged_at_two_sizes():
    pictures, beside, _ = seen()
    found = PatchDiscriminators(2, seen=9, width=2)(torch.cat([pictures, beside], 1))
    assert [scores.shape for scores in found] == [(2, 1, 4, 4), (2, 1, 2, 2)]


def test_the_second_sees_half_the_size_and_shares_no_weights():
    net = PatchDiscriminators(2, seen=9, width=2).eval()
    whole = torch.cat(seen()[:2], 1)
    small = whole.unflatten(2, (16, 2)).unflatten(4, (16, 2)).mean((3, 5))
    torch.testing.assert_close(net(whole)[1], net[1](small))
    assert not {id(p) for p in net[0].parameters()} & {id(p) for p in net[1].parameters()}


def test_crops_are_those_of_objects_that_are_there_in_order():
    pictures, _, layouts = seen()
    crops = object_crops(pictures, layouts)
    assert crops.shape == (5, 3, 32, 32)
    for place, (b, o) in enumerate(layouts.there.nonzero().tolist()):
        one = roi_align(pictures[b : b + 1], layouts.boxes[b : b + 1, o : o + 1], 32)
        torch.testing.assert_close(crops[place], one[0, 0])


@pytest.mark.parametrize("augment", [None, DiffAugment()])
def test_gradients_reach_every_weight_and_the_picture(augment):
    net = discriminators(augment)
    pictures, beside, layouts = seen()
    pictures.requires_grad_()
    told = net(pictures, beside, layouts)
    (
        sum(s.sum() for s in told.patches) + told.objects.sum() + told.classes.square().sum()
    ).backward()
    assert pictures.grad.abs().sum() > 0
    idle = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not idle


def test_a_verdict_of_two_batches_is_that_of_each():
    net = discriminators().eval()
    pictures, beside, layouts = seen()
    other = pictures.flip(-1)
    told = net(torch.cat([pictures, other]), beside, layouts)
    for half, alone in zip(told.halves(), (pictures, other), strict=True):
        expected = net(alone, beside, layouts)
        torch.testing.assert_close(half.objects, expected.objects)
        torch.testing.assert_close(half.classes, expected.classes)
        for one, another in zip(half.patches, expected.patches, strict=True):
            torch.testing.assert_close(one, another)


def test_what_there_is_not_says_nothing():
    pictures, beside, layouts = seen()
    alone = LayoutDiscriminators(PatchDiscriminators(1, seen=9, width=2), None)
    told = alone(pictures, beside, layouts)
    assert (told.objects, told.classes) == (None, None)
    assert all(half.objects is None for half in told.halves())
    told = LayoutDiscriminators(None, ObjectDiscriminator(5, 2))(pictures, beside, layouts)
    assert told.patches == []
