"""Diversity against loops over pairs."""

from itertools import combinations

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.diversity import feature_distance, picture_distance, place_spread


@pytest.mark.parametrize("s", [2, 5, 6])
def test_the_distance_is_the_mean_over_all_pairs(s):
    torch.manual_seed(0)
    pictures = torch.rand(3, s, 3, 4, 5, dtype=torch.double)
    pairs = [
        sum((a - b).abs().mean().item() for a, b in combinations(own, 2)) / (s * (s - 1) / 2)
        for own in pictures
    ]
    assert picture_distance(pictures).tolist() == pytest.approx(pairs, abs=1e-6)


def test_it_does_not_matter_how_many_pixels_are_sorted_at_once(monkeypatch):
    pictures = torch.rand(2, 6, 3, 8, 8)
    whole = picture_distance(pictures)
    monkeypatch.setattr("polymodal.metrics.diversity.NUMBERS", 100)
    torch.testing.assert_close(picture_distance(pictures), whole)


def test_bytes_are_shares_of_255():
    pictures = (
        torch.tensor([0, 255], dtype=torch.uint8).reshape(1, 2, 1, 1, 1).expand(1, 2, 3, 4, 4)
    )
    assert picture_distance(pictures).item() == 1
    whole = torch.randint(256, (2, 4, 3, 6, 6), dtype=torch.uint8)
    torch.testing.assert_close(picture_distance(whole), picture_distance(whole / 255))


def test_half_precision_is_widened_first():
    """Sums of 16-bit differences would stop growing."""
    pictures = torch.rand(1, 9, 3, 64, 64)
    rounded = pictures.bfloat16()
    torch.testing.assert_close(picture_distance(rounded), picture_distance(rounded.float()))


def test_a_collapsed_model_has_none():
    assert picture_distance(torch.rand(2, 1, 3, 8, 8).expand(2, 5, 3, 8, 8)).abs().max() < 1e-6
    assert place_spread(torch.rand(2, 1, 2, 2).expand(2, 5, 2, 2)).abs().max() < 1e-6


def test_places_that_are_drawn_evenly_have_the_spread_of_the_even_distribution():
    torch.manual_seed(0)
    found = place_spread(torch.rand(1, 20_000, 2, 2))
    assert found.item() == pytest.approx((2 / 12) ** 0.5, rel=0.01)


def test_an_objects_own_place_is_no_spread():
    """Objects far apart that stay where they are, and one that moves by itself."""
    places = torch.tensor([[0.1, 0.1], [0.9, 0.9]]).expand(1, 4, 2, 2).clone()
    assert place_spread(places).item() < 1e-6
    places[0, :, 1, 0] = torch.tensor([0.2, 0.4, 0.6, 0.8])
    alone = torch.tensor([0.2, 0.4, 0.6, 0.8]).var().item()
    assert place_spread(places).item() == pytest.approx((alone / 2) ** 0.5)


@pytest.mark.parametrize("shape", [(2, 1), (0, 4)])
def test_one_sample_has_no_diversity(shape):
    with pytest.raises(
        PolymodalError, match=f"pictures needs two .* found {shape[1]} of {shape[0]}"
    ):
        picture_distance(torch.rand(*shape, 3, 4, 4))
    with pytest.raises(PolymodalError, match="places needs two samples"):
        place_spread(torch.rand(*shape, 2, 2))


def test_features_are_told_apart_as_a_loop_does():
    layers = [torch.randn(2, 4, 5, 3, 3), torch.randn(2, 4, 7, 2, 2)]
    expected = []
    for n in range(2):
        own = []
        for maps in layers:
            unit = maps[n] / maps[n].norm(dim=1, keepdim=True)
            pairs = [(a - b).square().sum(0).mean().item() for a, b in combinations(unit, 2)]
            own.append(sum(pairs) / 6)
        expected.append(sum(own) / 2)
    assert feature_distance(layers).tolist() == pytest.approx(expected, rel=1e-5)


def test_features_of_any_length_count_alike_and_none_at_all_are_no_trouble():
    maps = torch.rand(1, 3, 4, 2, 2)
    torch.testing.assert_close(feature_distance([maps]), feature_distance([7 * maps]))
    assert feature_distance([torch.zeros(1, 3, 4, 2, 2)]).item() == 0
    assert feature_distance([maps[:, :1].expand(-1, 5, -1, -1, -1)]).item() < 1e-6
    with pytest.raises(PolymodalError, match="features needs two samples or more"):
        feature_distance([maps[:, :1]])
    with pytest.raises(PolymodalError, match="maps of one layer or more; found none"):
        feature_distance([])
