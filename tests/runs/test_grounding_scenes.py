"""The model of grounding that comes with the package finds phrases in scenes that it never saw."""

import pytest

import polymodal
from polymodal.data.sources import open_splits
from polymodal.runs import jobs

UNSEEN = "scenes,size=96,objects=1-3,seed=7,train=1,val=1,test=60"


@pytest.fixture(scope="module")
def model():
    return polymodal.load("grounding-scenes")


def test_it_points_at_what_phrases_name():
    scores = jobs.evaluate("grounding-scenes", data=UNSEEN)["scores"]["test"]
    assert scores["pointing"] > 70
    assert scores["r1"] > 70
    assert scores["random"] < 25


def test_it_grounds_a_picture_of_another_size_among_given_boxes(model):
    test = open_splits("scenes,size=160,objects=2-2,seed=3,train=1,val=1,test=12")["test"]
    right = total = 0
    for i in range(len(test)):
        one, other = test.columns["regions"][i]
        if one.attributes["colour"] == other.attributes["colour"]:
            continue
        for region in (one, other):
            caption = f"a {region.attributes['colour']} {region.label}"
            answer = model.ground(test.images([i])[0], caption, boxes=[one.box, other.box])
            right += answer[0].box == pytest.approx(region.box, abs=1)
            total += 1
    assert total >= 16
    assert right / total > 0.8
