"""The scene-graph similarity module as a retrieval model."""

import math

import numpy as np
import pytest
import torch

from ocgans import SCENES, train_matching
from polymodal.data.sources import open_splits
from polymodal.systems.layout.graph_matching import POOL, both_ways, recalls_of
from polymodal.systems.layout.sgsm import Config, build, learn
from toys import fall, write_backbone

SMALL = {"convnet_width": 8, "dim": 32, "hidden": 32, "layers": 2, "fewest": 1, "least_area": 0.0}


@pytest.fixture(scope="module")
def train():
    return open_splits(SCENES)["train"]


def system(train, **model):
    config = Config(**SMALL | model)
    torch.manual_seed(0)
    return build(config, learn(config, train))


@pytest.mark.slow
def test_it_overfits_a_batch(train):
    own = system(train)
    batch = own.examples(train).batch(np.arange(16))
    losses = fall(own, batch, 80)
    assert losses[-1] < 0.3 * losses[0]
    found = own.eval().similarities(batch)
    for similarity in (found.local, found.whole):
        assert recalls_of([similarity])["r1"] == 100


@pytest.mark.parametrize("relations", ["all", "one"])
def test_gradients_reach_every_weight(train, relations):
    own = system(train, relations=relations)
    batch = own.examples(train).batch(np.arange(16))
    own.training_step(batch, 0)["loss"].backward()
    idle = [n for n, p in own.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not idle


def test_untrained_it_scores_about_as_chance_does(train):
    scores = system(train).validate(train)
    assert scores["items"] == scores["pool"] == len(train) <= POOL
    assert scores["chance_r1"] == pytest.approx(100 / len(train))
    assert scores["r1"] < 10
    assert scores["r1"] == (scores["graphs_r1"] + scores["pictures_r1"]) / 2


def test_pools_are_of_one_size(train, monkeypatch):
    monkeypatch.setattr("polymodal.systems.layout.graph_matching.POOL", 40)
    scores = system(train).evaluate(train)
    assert (scores["items"], scores["pool"], scores["chance_r1"]) == (80, 40, 2.5)


def test_ties_count_against_the_right_answer():
    by_picture, by_graph = both_ways(
        torch.tensor([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [3.0, 0.0, 2.0]])
    )
    assert by_picture.tolist() == [1, 0, 1]
    assert by_graph.tolist() == [1, 0, 0]


def test_mirrored_pictures_have_mirrored_layouts(train, monkeypatch):
    """With all mirrored, a step is that of the mirrored batch."""
    own = system(train, flips=True)
    plain = system(train)
    batch = own.examples(train).batch(np.arange(8))
    monkeypatch.setattr("torch.rand", lambda *shape, device=None: torch.zeros(*shape))
    found = own.training_step(batch, 0)["loss"]
    x0, y0, x1, y1 = batch.boxes.unbind(-1)
    boxes = torch.stack([1 - x1, y0, 1 - x0, y1], -1)
    mirrored = type(batch)(
        image=batch.image.flip(-1), boxes=boxes, classes=batch.classes, there=batch.there
    )
    torch.testing.assert_close(found, plain.training_step(mirrored, 0)["loss"])


def test_a_frozen_network_may_look(train, tmp_path):
    own = system(train, image_encoder=str(write_backbone(tmp_path, "resnet")))
    batch = own.examples(train).batch(np.arange(8))
    assert own.training_step(batch, 0)["loss"].isfinite()
    assert not [name for name in own.state_dict() if "frozen" in name or "body" in name]


def test_a_loss_of_guessing_is_named(train):
    own = system(train)
    assert own.symptom(100.0) is None  # before any step nothing is known
    batch = own.examples(train).batch(np.arange(8))
    own.training_step(batch, 0)
    assert "is that of guessing (8.32)" in own.symptom(4 * math.log(8))
    assert own.symptom(4.0) is None


@pytest.mark.slow
def test_it_trains_as_any_system(tmp_path):
    metrics = train_matching(tmp_path / "run")
    assert metrics["monitor"] == "r1"
    assert {"graphs_r5", "pictures_r5", "local_r1", "global_r1"} <= metrics["scores"]["test"].keys()
    assert metrics["protocol"]["pool"].startswith("R@k among 100 items")
