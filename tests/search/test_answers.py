"""Answers: hits with all that is known of them, and a word only where there is one."""

import json

import pytest
import torch

from clusters import KNOWN, clustered, numbered
from polymodal.search import answers, build


def test_an_answer_is_its_hits():
    items, queries = clustered(30), clustered(2, seed=1)
    index = build(items, numbered(30), side="image", measure="kl", calibration=KNOWN)
    one, two = answers(index, queries, ["a", "b"], k=3)
    scores, places = index.search(queries, 3)
    assert [len(one), one.query, two.query, one.asked] == [3, "a", "b", "caption"]
    assert [hit.id for hit in two] == [str(place) for place in places[1].tolist()]
    assert one[0] == one.hits[0]
    assert one[:2] == one.hits[:2]
    assert one[0].captions == (f"item {places[0, 0]}",)
    assert one[0].metadata["split"] in ("val", "test")
    assert one[0].score == pytest.approx(scores[0, 0].item())
    assert one[0].entropy == pytest.approx(items[places[0, 0]].entropy().item())
    assert one.entropy == pytest.approx(queries[0].entropy().item())
    chance = KNOWN.chances(index.search(queries, 30)[0], 30)[0].item()  # whatever k is
    assert one.sureness == KNOWN.sureness(chance, 30)


def test_points_have_no_entropy():
    index = build(torch.eye(12), numbered(12), side="image", measure="cosine", calibration=KNOWN)
    (one,) = answers(index, torch.eye(12)[:1], ["a"], k=1)
    assert (one.entropy, one[0].entropy) == (None, None)
    assert one.sureness.chance == pytest.approx(KNOWN.chances(torch.eye(12)[:1], 12).item())


def test_the_items_that_are_searched_count():
    """A filter leaves ten of thirty items, or only five: of these all are first."""
    index = build(clustered(30), numbered(30), side="image", measure="kl", calibration=KNOWN)
    query, only = clustered(1, seed=1), {"split": "test"}
    (every,), (some,) = (answers(index, query, ["a"], where=where) for where in (None, only))
    assert every.sureness.why.endswith("among the first 10 of 30")
    assert some.sureness.why.endswith("among the first 10 of 20")
    assert some.sureness.chance == pytest.approx(
        KNOWN.chances(index.search(query, 20, only)[0], 20).item()
    )
    (few,) = answers(index, query, ["a"], where={"split": "val"})
    assert str(few.sureness) == (
        "not known how sure: only 10 items are searched, so all are among the first 10"
    )


def test_where_nothing_is_known_no_word_is_said():
    items = clustered(30)
    index = build(items, numbered(30), side="image", measure="kl")
    (one,) = answers(index, items[:1], ["a"])
    assert str(one.sureness) == (
        "not known how sure: the index was built without a split whose answers are known"
    )
    index = build(items, numbered(30), side="image", measure="kl", calibration=KNOWN)
    (one,) = answers(index, items[:1], ["a"], side="image")
    assert one.sureness.word is None
    assert one.sureness.why == "no labels say which images are alike"


def test_answers_are_json():
    items = clustered(30)
    index = build(items, numbered(30), side="image", measure="kl", calibration=KNOWN)
    (one,) = answers(index, items[:1], ["a"], k=2, where={"split": "val"})
    told = json.loads(json.dumps(one.as_json()))
    assert told["hits"][1]["metadata"] == {"split": "val"}
    assert set(told["sureness"]) == {"word", "chance", "why"}
