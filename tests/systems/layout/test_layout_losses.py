"""The losses of OC-GAN against the equations of the paper, in float64."""

import math

import pytest
import torch

from polymodal.nn.layout_discriminators import Verdict
from polymodal.systems.layout.layout_losses import (
    adversarial_loss,
    class_loss,
    discriminators_loss,
    hinge_of_drawer,
    hinge_of_judge,
    matching_loss,
    perceptual_loss,
    squared_gradient,
)


def test_hinge_losses_are_the_equations():
    real, drawn = torch.tensor([2.0, 0.5, -1.0]), torch.tensor([[-3.0, 0.25]])
    judged = sum(-min(0, -1 + d) for d in real.tolist()) / 3
    judged += sum(-min(0, -1 - d) for d in drawn.flatten().tolist()) / 2
    assert hinge_of_judge(real, drawn).item() == pytest.approx(judged)
    assert hinge_of_drawer(drawn).item() == pytest.approx((3 - 0.25) / 2)
    assert hinge_of_judge(torch.full((4,), 1.5), torch.full((4,), -1.5)) == 0


def test_the_matching_loss_is_that_of_both_directions():
    """Eq. 6.3.4 and 6.3.5, one probability at a time."""
    similarity = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    gamma3, expected = 7.0, 0.0
    for i in range(4):
        own = math.exp(gamma3 * similarity[i, i])
        by_graph = sum(math.exp(gamma3 * s) for s in similarity[:, i].tolist())
        by_picture = sum(math.exp(gamma3 * s) for s in similarity[i].tolist())
        expected += (-math.log(own / by_graph) - math.log(own / by_picture)) / 4
    assert matching_loss(similarity, gamma3).item() == pytest.approx(expected, rel=1e-5)


def test_the_perceptual_loss_divides_each_layer_by_its_size():
    real = [torch.zeros(2, 3, 4, 4), torch.zeros(2, 5, 2, 2)]
    drawn = [torch.full((2, 3, 4, 4), 0.5), torch.full((2, 5, 2, 2), -2.0)]
    assert perceptual_loss(real, drawn).item() == pytest.approx(2.5)


def verdict(shift: float) -> Verdict:
    chance = torch.Generator().manual_seed(0)
    patches = [torch.randn(2, 1, side, side, generator=chance) + shift for side in (4, 2)]
    return Verdict(
        patches,
        torch.randn(5, generator=chance) + shift,
        torch.randn(5, 3, generator=chance),
    )


def test_the_losses_are_weighed_sums():
    real, drawn, classes = verdict(0.2), verdict(-0.3), torch.tensor([0, 2, 1, 1, 0])
    hinges = [hinge_of_judge(a, b) for a, b in zip(real.patches, drawn.patches, strict=True)]
    of_objects = hinge_of_judge(real.objects, drawn.objects)
    loss, shown = discriminators_loss(real, drawn, classes, 0.7)
    expected = sum(hinges) + 0.7 * (of_objects + class_loss(real.classes, classes))
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(shown, torch.stack([*hinges, of_objects]).mean())
    told = sum(hinge_of_drawer(scores) for scores in drawn.patches)
    told = told + 0.4 * (hinge_of_drawer(drawn.objects) + class_loss(drawn.classes, classes))
    torch.testing.assert_close(adversarial_loss(drawn, classes, 0.4), told)


def test_without_some_discriminators_their_losses_are_none():
    classes = torch.tensor([0, 2, 1, 1, 0])
    patches = Verdict(verdict(0.0).patches, None, None)
    objects = Verdict([], verdict(0.0).objects, verdict(0.0).classes)
    assert discriminators_loss(patches, patches, classes, 1.0)[0] == sum(
        hinge_of_judge(s, s) for s in patches.patches
    )
    loss, shown = discriminators_loss(objects, objects, classes, 1.0)
    assert shown == hinge_of_judge(objects.objects, objects.objects)
    assert loss > shown
    assert adversarial_loss(patches, classes, 1.0) == sum(map(hinge_of_drawer, patches.patches))


def test_the_squared_gradient_is_that_of_the_mean_score():
    """Of D(x) = Σ w x, the mean of two scores of which one is 3 D(x): ½‖2w‖²."""
    weights = torch.randn(3, 4, 4, dtype=torch.float64)
    seen = torch.randn(2, 3, 4, 4, dtype=torch.float64, requires_grad=True)
    score = (seen * weights).sum((1, 2, 3))
    patches = torch.stack([score, 3 * score], 1)
    found = squared_gradient([patches], seen)
    torch.testing.assert_close(found, ((2 * weights) ** 2).sum().float() / 2)
