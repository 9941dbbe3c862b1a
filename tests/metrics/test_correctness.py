"""Correctness against a loop over words."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.correctness import bag_correctness, correctness

NINE = {"size": (0, 5), "colour": (1, 6), "material": (2, 7), "shape": (3, 8), "relation": (4,)}


def test_it_is_the_share_of_words_that_match():
    torch.manual_seed(0)
    told, read = torch.randint(3, (60, 9)), torch.randint(3, (60, 9))
    found = correctness(told, read, NINE)
    for name, places in {
        "correctness": [0, 1, 2, 3, 5, 6, 7, 8],
        "correctness_all": range(9),
        "correctness_colour": [1, 6],
        "correctness_relation": [4],
    }.items():
        shares = [
            100 * sum(bool(told[i, p] == read[i, p]) for p in places) / len(places)
            for i in range(60)
        ]
        assert found[name] == pytest.approx(sum(shares) / 60)
        deviation = torch.tensor(shares).std().item()
        assert found[f"{name}_error"] == pytest.approx(deviation / 60**0.5)
    assert {f"correctness_{name}" for name in NINE} < found.keys()


def test_the_relation_counts_beside():
    told = torch.zeros(1, 9, dtype=torch.long)
    read = told.clone()
    read[0, 4] = 1
    found = correctness(told, read, NINE)
    assert found["correctness"] == 100
    assert found["correctness_all"] == pytest.approx(800 / 9)
    assert found["correctness_relation"] == 0


def test_without_a_relation_there_is_one_figure_for_all():
    told = torch.tensor([[0, 1], [1, 1]])
    found = correctness(told, torch.tensor([[0, 1], [0, 1]]), {"size": [0], "colour": [1]})
    assert found["correctness"] == 75
    assert "correctness_all" not in found
    assert (found["correctness_size"], found["correctness_colour"]) == (50, 100)


def test_a_bag_is_the_share_of_its_words_that_are_likelier_than_not():
    torch.manual_seed(0)
    told, probabilities = torch.randint(6, (40, 4)), torch.rand(40, 6)
    told[7] = 5  # which says nothing
    shares = []
    for words, likely in zip(told.tolist(), probabilities.tolist(), strict=True):
        said = [word for word in words if word != 5]
        if said:
            shares.append(100 * sum(likely[word] > 0.5 for word in said) / len(said))
    found = bag_correctness(told, probabilities, blank=5)
    assert len(shares) == 39
    assert found["correctness"] == pytest.approx(sum(shares) / 39)
    assert found["correctness_error"] == pytest.approx(torch.tensor(shares).std().item() / 39**0.5)


def test_the_order_of_a_bag_does_not_matter():
    torch.manual_seed(0)
    told, probabilities = torch.randint(5, (20, 6)), torch.rand(20, 5)
    turned = torch.stack([row[torch.randperm(6)] for row in told])
    assert bag_correctness(turned, probabilities) == bag_correctness(told, probabilities)


def test_a_half_is_not_likelier_than_not():
    assert bag_correctness(torch.tensor([[0]]), torch.tensor([[0.5]])) == {"correctness": 0.0}


def test_texts_of_blanks_alone_are_refused():
    with pytest.raises(PolymodalError, match="None of the 2 texts says a word"):
        bag_correctness(torch.zeros(2, 3, dtype=torch.long), torch.zeros(2, 4), blank=0)
