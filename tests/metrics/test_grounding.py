"""Grounding scores against counting by hand, phrase by phrase."""

import math

import pytest
import torch

from polymodal.metrics.grounding import (
    Matches,
    baselines,
    by_type,
    grounding_scores,
    matches,
    pointed,
    ranks,
)

BIG, SMALL, FAR, NONE = [0, 0, 10, 10], [4, 4, 6, 6], [20, 20, 29, 29], [0, 0, 0, 0]


def boxes(*rows) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float)


def test_any_true_box_counts_and_padding_none() -> None:
    found = matches(boxes([BIG, SMALL, FAR, NONE]), boxes([BIG, FAR, NONE]))
    assert found.hit.tolist() == [[True, False, True, False]]
    assert found.inside.tolist() == [[True, True, True, False]]  # the middle of SMALL is in BIG
    assert found.there.tolist() == [[True, True, True, False]]


def test_the_union_is_the_box_around_all() -> None:
    whole = [0, 0, 29, 29]
    found = matches(boxes([whole, BIG]), boxes([BIG, FAR, NONE]), union=True)
    assert found.hit.tolist() == [[True, False]]


def test_an_overlap_of_one_half_is_enough() -> None:
    found = matches(boxes([[0, 0, 10, 5], [0, 0, 10, 4.9]]), boxes([BIG]))
    assert found.hit.tolist() == [[True, False]]


def naive(scores, found, k) -> tuple[float, float]:
    """Recall at k and pointing accuracy, where of equal scores wrong ones come first."""
    recalled, pointing = [], []
    for s, hit, inside, there in zip(scores, found.hit, found.inside, found.there, strict=True):
        real = [i for i in range(len(s)) if there[i]]
        order = sorted(real, key=lambda i: (-s[i].item(), bool(hit[i])))
        recalled.append(any(hit[i] for i in order[:k]))
        pointing.append(bool(inside[min(real, key=lambda i: (-s[i].item(), bool(inside[i])))]))
    return 100 * sum(recalled) / len(recalled), 100 * sum(pointing) / len(pointing)


def test_scores_are_those_of_counting() -> None:
    torch.manual_seed(0)
    there = torch.rand(200, 12) < 0.8
    there[:, 0] = True
    hit, inside = (torch.rand(200, 12) < 0.2) & there, (torch.rand(200, 12) < 0.4) & there
    found = Matches(hit, inside, there)
    scores = torch.randint(0, 5, (200, 12)).float()  # with many ties
    told = grounding_scores(scores, found)
    for k in (1, 5, 10):
        recall, pointing = naive(scores, found, k)
        assert told[f"r{k}"] == pytest.approx(recall)
        assert told["pointing"] == pytest.approx(pointing)


def test_a_phrase_that_no_proposal_fits_has_no_rank() -> None:
    found = Matches(torch.zeros(1, 3).bool(), torch.zeros(1, 3).bool(), torch.ones(1, 3).bool())
    assert ranks(torch.zeros(1, 3), found).tolist() == [3]
    assert not pointed(torch.zeros(1, 3), found).any()


def test_types_are_counted_apart() -> None:
    found = matches(boxes([BIG, FAR], [BIG, FAR]), boxes([BIG], [FAR]))
    scores = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    types = {"people": torch.tensor([True, False]), "scene": torch.tensor([False, True])}
    told = by_type(scores, found, types)
    assert (told["r1_people"], told["pointing_scene"], told["phrases_scene"]) == (100, 0, 1)


def test_baselines_are_known_without_a_model() -> None:
    proposals = boxes([BIG, SMALL, FAR, NONE], [FAR, SMALL, BIG, [21, 21, 30, 30]])
    found = matches(proposals, boxes([SMALL], [BIG]))
    told = baselines(proposals, found)
    assert told["upper_bound"] == 100
    assert told["random"] == pytest.approx(100 * (2 / 3 + 2 / 4) / 2)
    assert told["random_r1"] == pytest.approx(100 * (1 / 3 + 1 / 4) / 2)
    assert (told["largest"], told["largest_r1"]) == (100, 50)
    assert (told["central"], told["central_r1"]) == (
        50,
        0,
    )  # BIG and SMALL tie, then FAR is nearest
    assert all(math.isfinite(value) for value in told.values())
