"""Looks at pictures: windows of the picture, colours that stay colours."""

import pytest
import torch

from polymodal.nn.amdim_augment import Looks, luminance

RAMP = torch.linspace(0, 1, 64).expand(200, 3, 64, 64)
"""Brighter from left to right: a window's values say where it is."""


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_windows_lie_in_the_picture_and_are_mirrored_half_the_time():
    found = Looks(32).windowed(RAMP)
    assert found.shape == (200, 3, 32, 32)
    left, right = found[:, 0, 0, 0], found[:, 0, 0, -1]
    assert 0.35 < (left > right).double().mean() < 0.65
    wide = (left - right).abs()
    assert wide.max() <= 1
    assert wide.min() > 0.9 * (0.3 * 3 / 4) ** 0.5  # the narrowest window, seen at 32 pixels
    assert wide.std() > 0.1
    down = Looks(32).windowed(RAMP.mT)
    assert (down[:, 0, 0] < down[:, 0, -1]).all()  # never upside down
    torch.testing.assert_close(found[:, 0], found[:, 2])


def test_a_whole_window_is_the_picture():
    looks = Looks(64, area=1.0)
    found = looks.windowed(RAMP)
    shapes = (found[:, 0, 0, 0] - found[:, 0, 0, -1]).abs()
    assert shapes.max() > 0.98
    images = torch.rand(8, 3, 16, 16)
    same = Looks(16, jitter=0.0, grey=0.0).coloured(images)
    torch.testing.assert_close(same, images)


def test_colours_change_within_their_bounds():
    images = torch.rand(100, 3, 8, 8)
    found = Looks(8, grey=0.0).coloured(images)
    same = (found == images).flatten(1).all(1)
    assert 0.1 < same.double().mean() < 0.35  # one of five
    brighter = luminance(found).mean((1, 2, 3)) / luminance(images).mean((1, 2, 3))
    assert brighter.min() > 0.59
    assert brighter.max() < 1.41
    assert brighter.std() > 0.1


def test_grey_pictures_have_no_colour():
    images = torch.rand(200, 3, 4, 4)
    found = Looks(4).coloured(images)
    grey = (found[:, 0] - found[:, 1]).abs().flatten(1).amax(1) < 1e-6
    assert 0.15 < grey.double().mean() < 0.35
    assert Looks(4)(images).min() >= 0
    assert Looks(4)(images).max() <= 1


def test_places_are_not_rounded_under_autocast():
    looks, seen = Looks(32), []
    for rounded in (False, True):
        torch.manual_seed(0)
        with torch.autocast("cpu", torch.bfloat16, enabled=rounded):
            seen.append(looks(RAMP[:8]))
    assert torch.equal(*seen)
