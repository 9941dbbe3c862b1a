"""Answers: hits with all that is known of them, and a word only where there is one."""

import json

import pytest
import torch

from clusters import KNOWN, clustered, numbered
from polymodal.search import Calibration, answers, build


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
    assert one.sureness == KNOWN.sureness(queries[0].log_det().item())


def test_points_have_no_entropy_and_their_best_score_counts():
    known = Calibration(**{**vars(KNOWN), "signal": "best_score", "values": (-1.0, 1.0)})
    index = build(torch.eye(3), numbered(3), side="image", measure="cosine", calibration=known)
    (one,) = answers(index, torch.tensor([[1.0, 0.0, 0.0]]), ["a"], k=1)
    assert (one.entropy, one[0].entropy) == (None, None)
    assert one.sureness.chance == pytest.approx(0.1)


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
