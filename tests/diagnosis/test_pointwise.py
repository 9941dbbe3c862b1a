"""Mutual information that is known, maps pair by pair, and heat where two images share something."""

import math

import pytest
import torch

from polymodal.diagnosis import pointwise
from polymodal.diagnosis.encoders import ImageFeatures
from polymodal.diagnosis.pointwise import (
    Mining,
    divided,
    fit_statistics,
    information,
    normalised,
    score_maps,
)

KINDS, SIDE = 4, 3
QUICK = Mining(steps=300, lr=3e-3, hidden=32, places=9)


def looked(count=400, seed=0, wide=KINDS):
    """Images of four kinds that all places know, so that I(G; L) is log 4; place (1, 2) knows nothing."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(KINDS, (count,), generator=generator)
    whole = torch.eye(KINDS)[kinds] + 0.05 * torch.randn(count, KINDS, generator=generator)
    local = torch.eye(wide)[kinds][:, :, None, None].repeat(1, 1, SIDE, SIDE)
    local[:, :, 1, 2] = 0
    return ImageFeatures(whole, local), kinds


@pytest.mark.parametrize("critic", ["encode-and-dot", "concat-and-convolve"])
def test_the_bound_comes_to_what_is_known(critic):
    seen, asked = looked()[0], looked(seed=1)[0]
    how = Mining(steps=150, lr=5e-3, hidden=32, places=9, batch_size=32, critic=critic)
    found = information(fit_statistics(seen, how), asked)
    places = SIDE * SIDE
    assert found == pytest.approx((places - 1) / places * math.log(KINDS), abs=0.12)


def test_features_that_share_nothing():
    generator = torch.Generator().manual_seed(0)
    seen, asked = (
        ImageFeatures(
            torch.randn(600, 3, generator=generator), torch.randn(600, 2, 3, 3, generator=generator)
        )
        for _ in range(2)
    )
    assert abs(information(fit_statistics(seen, Mining(steps=100, hidden=16)), asked)) < 0.15


def test_heat_is_high_between_images_of_a_kind():
    seen, (asked, kinds) = looked()[0], looked(60, seed=1)
    statistics = fit_statistics(seen, QUICK)
    pairs = torch.cartesian_prod(torch.arange(60), torch.arange(60))
    maps = score_maps(statistics, asked, pairs)
    same = (kinds[pairs[:, 0]] == kinds[pairs[:, 1]])[:, None, None].expand_as(maps)
    telling = torch.ones(SIDE, SIDE, dtype=torch.bool)
    telling[1, 2] = False
    alike, unlike = maps[same & telling], maps[~same & telling]
    assert alike.min() > unlike.max() + 1
    # the pointwise information of a kind is log 4, of nothing 0, up to one constant for all
    empty = maps[:, 1, 2].mean()
    assert (alike.mean() - empty).item() == pytest.approx(math.log(KINDS), abs=0.4)


def test_maps_are_those_of_single_pairs():
    asked = looked(10)[0]
    statistics = fit_statistics(asked, Mining(steps=2, hidden=8, batch_size=4, places=2))
    pairs = torch.tensor([[3, 1], [0, 1], [7, 9], [3, 0]])
    found = score_maps(statistics, asked, pairs)
    for (first, second), heat in zip(pairs.tolist(), found, strict=True):
        alone = statistics(asked.whole[[first]], asked.local[[second]])
        assert torch.allclose(heat.flatten(), alone.flatten(), atol=1e-5)


def test_the_same_fit_again_whatever_was_drawn_before():
    asked = looked(10)[0]
    how = Mining(steps=3, hidden=8, batch_size=4, places=2)
    pairs = torch.tensor([[0, 1]])
    torch.manual_seed(1)
    one = score_maps(fit_statistics(asked, how), asked, pairs)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    assert torch.equal(score_maps(fit_statistics(asked, how), asked, pairs), one)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_fit_is_taken_from_where_the_bound_is_largest(monkeypatch):
    bounds, states = [0.1, 0.5, 0.3, 0.2], []

    def told(statistics, held):
        states.append({k: v.clone() for k, v in statistics.state_dict().items()})
        return bounds[len(states) - 1]

    monkeypatch.setattr(pointwise, "information", told)
    how = Mining(steps=4, hidden=8, batch_size=4, places=2)
    found = fit_statistics(looked(30)[0], how).state_dict()
    assert len(states) == 4
    assert all(torch.equal(found[k], v) for k, v in states[1].items())
    assert not all(torch.equal(found[k], v) for k, v in states[3].items())


def test_what_is_held_out_is_spread_over_all_images():
    own, apart = divided(100_000)
    assert sorted([*own.tolist(), *apart.tolist()]) == list(range(100_000))
    assert 250 < len(apart) < 270
    assert apart.max() > 99_000
    assert [len(some) for some in divided(19)] == [19, 19]


def test_scores_relative_to_other_places():
    scores = torch.tensor([[[0.0, 1.0], [1.0, 3.0]], [[2.0, 2.0], [2.0, 2.0]]])
    soft = normalised(scores, "softmax")
    assert torch.allclose(soft.sum((1, 2)), torch.ones(2))
    assert soft[0, 1, 1] / soft[0, 0, 0] == pytest.approx(math.exp(3), rel=1e-4)
    by_range = normalised(scores, "range")
    assert (by_range[0].min(), by_range[0].max()) == (0, 1)
    assert not by_range[1].any()
