"""The section on uncertainty: its curve, its sentence, its two ends."""

import pytest
import torch

from polymodal.views.uncertainty_section import auroc_sentence, curve, risk, uncertainty_section

RANK = torch.tensor([0, 3, 12, 40])
ENTROPY = torch.tensor([-5.0, 1.0, 2.0, 9.5])
TEXTS = ["a cube", "two cubes", "a <thing>", "there is something"]


def test_the_curve_begins_at_the_surest_and_ends_at_all():
    failed = (RANK >= 10).long()
    coverage, risks = zip(*curve(failed, ENTROPY), strict=True)
    assert coverage == pytest.approx((25, 50, 75, 100))
    assert risks == pytest.approx((0, 0, 100 / 3, 50))
    assert risk(failed) == 50


def test_a_long_curve_has_a_hundred_points():
    points = curve(torch.arange(5000) % 2, torch.arange(5000.0))
    assert len(points) == 100 and points[-1] == pytest.approx((100, 50))


def test_the_section_lists_both_ends_and_escapes_what_was_asked():
    body = uncertainty_section(RANK, ENTROPY, TEXTS).body
    assert "in 100 % of the cases" in body
    surest, least = body.split("Least sure")
    assert surest.index("a cube") < surest.index("two cubes")
    assert least.index("there is something") < least.index("a &lt;thing&gt;")
    assert "9.5 nats" in least and "<thing>" not in body
    assert "first 10" in body and "first 1<" not in body


def test_a_model_that_always_fails_is_said_to_tell_nothing():
    assert "nothing to tell apart" in auroc_sentence(None)
    assert "nothing to tell apart" in uncertainty_section(RANK + 50, ENTROPY, TEXTS).body
