"""How sure: chances that a labelled split bears out, in a direction that it shows."""

import numpy as np
import pytest
import torch

from clusters import clustered
from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.search import Calibration, Sureness, calibrate
from polymodal.search.sureness import FIRST, GROUP, WORDS, fit, telling, word_for


def drawn(rising: bool, count: int = 4000):
    """Signals, and answers that are right with a chance that rises or falls with them."""
    rng = np.random.default_rng(0)
    signal = rng.uniform(-2, 2, count)
    chance = 1 / (1 + np.exp(-3 * signal if rising else 3 * signal))
    return signal, rng.uniform(size=count) < chance


@pytest.mark.parametrize("rising", [True, False])
def test_chances_are_those_of_the_draw_whichever_way_they_go(rising):
    values, chances, tells = fit(*drawn(rising))
    assert tells
    for signal in (-1.0, -0.3, 0.0, 0.3, 1.0):
        truth = 1 / (1 + np.exp(-3 * signal if rising else 3 * signal))
        assert np.interp(signal, values, chances) == pytest.approx(truth, abs=0.1)
    steps = np.diff(chances)
    assert (steps >= 0).all() if rising else (steps <= 0).all()


def test_no_chance_is_told_from_fewer_than_a_group():
    signal = np.arange(100.0)
    right = signal >= 97  # three queries only
    _, chances, tells = fit(signal, right)
    assert tells
    assert max(chances) == 3 / GROUP


@pytest.mark.parametrize(
    ("signal", "right"),
    [
        (np.arange(40.0), np.tile([True, False], 20)),  # nothing to do with each other
        (np.ones(40), np.arange(40) < 10),
        (np.arange(40.0), np.ones(40, bool)),
    ],
)
def test_a_signal_that_tells_nothing_gives_the_share_of_all(signal, right):
    values, chances, tells = fit(signal, right)
    assert not tells
    assert len(values) == 1
    assert chances == (right.mean(),)


def known(**more):
    given = {"signal": "log_det", "values": (0.0, 1.0), "chances": (0.9, 0.1), "tells": True}
    given |= {"asked": "caption", "queries": 50, "items": 40, "split": "validation"}
    return Calibration(**given | more)


def test_what_is_said():
    assert str(known().sureness(0.1125)) == (
        "sure: of validation queries like this, 81 % had their image among the first 10 of 40"
    )
    assert known().sureness(0.1125).chance == pytest.approx(0.81)
    assert known().sureness(99.0).chance == pytest.approx(0.1)
    assert known(asked="image").sureness(1.0).why.endswith("10 % had a caption of theirs among the first "
                                                         "10 of 40")  # fmt: skip
    blind = known(values=(0.5,), chances=(0.3,), tells=False).sureness(7.0)
    assert str(blind) == (
        "unsure: of validation queries, 30 % had their image among the first 10 of 40, and nothing "
        "tells this one from the others"
    )
    assert str(Sureness(why="nobody asked")) == "not known how sure: nobody asked"


def test_words_go_down_with_the_chance():
    assert [word_for(least) for least, _ in WORDS] == [word for _, word in WORDS]
    assert word_for(0.7499) == "fairly sure"
    assert [least for least, _ in WORDS] == [0.75, 0.5, 0.25, 0.0]


@pytest.mark.parametrize("values", [(), (1.0, 1.0), (2.0, 1.0), (1.0, 2.0, 3.0)])
def test_a_calibration_that_is_none(values):
    with pytest.raises(PolymodalError, match="rising values"):
        known(values=values)


def pairs(noise: float):
    """Sixty images with two captions each, and how far a caption's mean strays grows with its variance."""
    images = clustered(60, seed=1)
    owner = torch.arange(120) // 2
    make = torch.Generator().manual_seed(2)
    stray = torch.rand(120, 1, generator=make)
    mean = images.mean[owner] + noise * stray * torch.randn(120, 16, generator=make)
    return images, DiagonalGaussian(mean, (4 * stray - 2).expand(-1, 16)), owner


def test_wide_queries_are_less_sure():
    images, captions, owner = pairs(noise=2.0)
    found = calibrate("mahalanobis", images.mean, captions, owner, items="image", split="val")
    assert found.signal == "log_det"
    assert (found.asked, found.queries, found.items) == ("caption", 120, 60)
    assert found.tells
    assert found.sureness(-30.0).chance > found.sureness(30.0).chance


def test_points_are_judged_by_their_best_score():
    images, captions, owner = pairs(noise=2.0)
    found = calibrate("cosine", images.mean, captions.mean, owner, items="image", split="val")
    assert found.signal == "best_score"
    assert found.sureness(1.0).chance > 0.75
    by_image = calibrate("cosine", images.mean, captions.mean, owner, items="caption", split="val")
    assert (by_image.asked, by_image.queries, by_image.items) == ("image", 60, 120)


def test_the_chance_is_that_of_the_first_ten():
    images, captions, owner = pairs(noise=2.0)
    found = calibrate("wasserstein", images, captions, owner, items="image", split="val")
    distance = torch.cdist(captions.mean, images.mean).square()
    distance += (captions.std[:, None] - images.std).square().sum(-1)
    own = distance.gather(1, owner[:, None])
    share = ((distance < own).sum(1) < FIRST).double().mean().item()
    assert min(found.chances) <= share <= max(found.chances)


def test_few_queries_teach_nothing():
    images, captions, owner = pairs(noise=1.0)
    with pytest.raises(PolymodalError, match="19 queries are too few"):
        calibrate("kl", images, captions[:19], owner[:19], items="image", split="val")


def test_the_signal_that_tells_more_is_taken():
    images, captions, owner = pairs(noise=2.0)
    alike = DiagonalGaussian(captions.mean, torch.randn(120, 16, generator=torch.manual_seed(0)))
    found = calibrate("csd", images, alike, owner, items="image", split="val")
    assert found.signal == "best_score"  # these variances are drawn at random
    assert telling(np.arange(4.0), np.array([0.0, 0, 1, 1])) == 0.5
    assert telling(np.arange(4.0), np.array([1.0, 1, 0, 0])) == 0.5
    assert telling(np.ones(4), np.array([0.0, 1, 0, 1])) == 0
    assert telling(np.arange(4.0), np.ones(4)) == 0
