"""The parts ratio and likenesses, against plain loops and other libraries."""

import math

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.parts_ratio import (
    Relating,
    attribute_likeness,
    correlation,
    draw_pairs,
    parts_ratio,
    pixel_likeness,
    trend,
)


def test_the_share_of_places_with_any_part():
    heat = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    parts = torch.zeros(2, 2, 2, 2, dtype=torch.bool)
    parts[:, 0, 0, 0] = parts[:, 1, 1, 1] = True
    parts[:, 1, 0, 0] = True  # two parts in one place count once
    assert parts_ratio(heat, parts).tolist() == pytest.approx([0.5, 0.0])


def test_pairs_are_of_different_images_and_every_image_is_shown():
    pairs = draw_pairs(7, 100)
    assert pairs.shape == (100, 2)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert pairs[:, 1].bincount().tolist() == [15, 15, 14, 14, 14, 14, 14]
    assert pairs[:, 0].unique().tolist() == list(range(7))
    assert torch.equal(pairs, draw_pairs(7, 100))


def test_attributes_by_their_cosine():
    attributes = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    found = attribute_likeness(
        attributes, torch.tensor([2, 0, 1]), torch.tensor([[0, 1], [1, 2], [2, 2]])
    )
    assert found.tolist() == pytest.approx([0.0, math.sqrt(0.5), 1.0], abs=1e-6)


def test_pixels_by_their_structure():
    """Against SSIM of one window in plain numbers: of flat pictures only the means count."""
    one, other = torch.full((1, 3, 16, 16), 50), torch.full((1, 3, 16, 16), 200)
    flat = (2 * 50 * 200 + 2.55**2) / (50**2 + 200**2 + 2.55**2)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randint(0, 256, (1, 3, 16, 16), generator=generator)
    first = torch.cat([one, one, noise]).byte()
    second = torch.cat([one, other, 255 - noise]).byte()
    found = pixel_likeness(first, second).tolist()
    assert found[:2] == pytest.approx([1.0, flat], abs=1e-4)
    assert found[2] < 0


def test_pearson_against_numpy_and_chance():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, generator=generator)
    y = 0.3 * x + torch.randn(200, generator=generator)
    r, p = correlation(x, y)
    assert r == pytest.approx(np.corrcoef(x.numpy(), y.numpy())[0, 1], abs=1e-6)
    farther = 0
    for _ in range(500):
        shuffled = y[torch.randperm(200, generator=generator)]
        farther += abs(np.corrcoef(x.numpy(), shuffled.numpy())[0, 1]) >= abs(r)
    assert p == pytest.approx(farther / 500, abs=0.02)
    for few, others in ((x, torch.ones(200)), (x[:2], y[:2])):  # of two, r would be 1 or −1
        r, p = correlation(few, others)
        assert math.isnan(r)
        assert p == 1


def test_a_trend_passes_over_bins_without_pairs():
    assert trend(torch.tensor([2.0, 1.0]), torch.tensor([5.0, 4.0]), bins=4) == [(1, 4), (2, 5)]


def test_too_few_pairs():
    with pytest.raises(PolymodalError, match="needs 3 pairs or more, not 2"):
        Relating(pairs=2)
