"""How sure: what is said of a chance, and which chance signals and the number of items give."""

import math

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.search import Calibration, Sureness
from polymodal.search.sureness import WORDS, log_odds, signals, word_for


def known(**more):
    given = {"sizes": (100, 10000), "weights": ((1.0, 2.0, 0.5, 0.0), (-3.0, 2.0, 1.5, 0.0))}
    given |= {"asked": "caption", "queries": 50, "split": "validation"}
    return Calibration(**given | more)


def test_what_is_said():
    told = known().sureness(0.8125, 40)
    assert str(told) == (
        "sure: of validation queries like this, 81 % had their image among the first 10 of 40"
    )
    assert told.chance == 0.8125
    assert (
        known(asked="image")
        .sureness(0.1, 4407)
        .why.endswith("10 % had a caption of theirs among the first 10 of 4407")
    )
    blind = known(weights=((0.5, 0.0, 0.0, 0.0),) * 2).sureness(0.3, 7)
    assert str(blind) == (
        "unsure: of validation queries, 30 % had their image among the first 10 of 7, and nothing "
        "tells this one from the others"
    )
    assert str(Sureness(why="nobody asked")) == "not known how sure: nobody asked"


def test_words_go_down_with_the_chance():
    assert [word_for(least) for least, _ in WORDS] == [word for _, word in WORDS]
    assert word_for(0.7499) == "fairly sure"
    assert [least for least, _ in WORDS] == [0.75, 0.5, 0.25, 0.0]


def test_signals_are_the_lead_of_the_first_ten_and_the_best_score():
    scores = torch.randn(4, 50).sort(descending=True).values
    for row, (lead, best) in zip(scores.tolist(), signals(scores).tolist(), strict=True):
        assert lead == pytest.approx(sum(row[:10]) / 10 - sum(row[10:30]) / 20, abs=1e-6)
        assert best == pytest.approx(row[0])


@pytest.mark.parametrize(
    ("items", "constant", "weight"),
    [(100, 1.0, 0.5), (1000, -1.0, 1.0), (10000, -3.0, 1.5), (20, 1.0, 0.5), (10**6, -3.0, 1.5)],
)
def test_log_odds_are_linear_in_the_logarithm_of_the_items(items, constant, weight):
    scores = torch.tensor([[0.7] * 10 + [0.2] * 20])
    expected = 1 / (1 + math.exp(-(constant + 2.0 * 0.5 + weight * 0.7)))
    assert known().chances(scores, items).item() == pytest.approx(expected)


@pytest.mark.parametrize(("line", "slope"), [(-30.0, 0.5), (30.0, 2.0)])
def test_the_slope_bends_at_even_odds(line, slope):
    weights = (0.0, 1.0, 0.0, math.log(2))
    told = torch.tensor([[line, 7.0], [line + 1, 7.0], [0.0, 7.0]], dtype=torch.double)
    before, after, even = log_odds(told, weights).tolist()
    assert after - before == pytest.approx(slope)
    assert even == pytest.approx((2.0 - 0.5) * math.log(2))


def test_the_chance_rises_with_the_lead_and_falls_with_the_items():
    ahead, close = torch.tensor([[0.9] * 10 + [0.1] * 20, [0.9] * 10 + [0.8] * 20])
    both = torch.stack([ahead, close])
    more, less = known().chances(both, 100).tolist()
    assert more > less
    assert known().chances(both, 10000)[0].item() < more


@pytest.mark.parametrize("sizes", [(), (5, 5), (6, 5), (5, 6, 7)])
def test_a_calibration_that_is_none(sizes):
    with pytest.raises(PolymodalError, match="rising numbers of items"):
        known(sizes=sizes)
