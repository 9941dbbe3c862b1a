"""The detector of objects: it learns, its losses are those of loops, its scores those of what it finds."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from drawn_layouts import CLASSES, drawn_layouts
from polymodal import load
from polymodal.base.errors import PolymodalError
from polymodal.metrics.layout_fidelity import layout_fidelity
from polymodal.nn.centre_points import PointMaps, centre_places
from polymodal.runs import jobs
from polymodal.systems.layout.object_detector import ObjectDetector
from polymodal.systems.layout.spotter import Config, build, learn
from polymodal.systems.layout.spotter_losses import focal_loss, spotting_losses
from polymodal.training.training_config import Training
from toys import fall

TINY = Config(width=8, fewest=1, least_area=0.0, lr=1e-2, flip=False)
TRAIN, VAL = drawn_layouts(32, 0), drawn_layouts(16, 1)


def made(**changes) -> ObjectDetector:
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, **changes)
    return build(config, learn(config, TRAIN))


@pytest.mark.parametrize("stride", [2, 4])
def test_it_overfits_one_batch(stride):
    spotter = made(stride=stride)
    batch = spotter.examples(TRAIN).batch(np.arange(6))
    losses = fall(spotter, batch, 150)
    assert losses[0] > 3
    assert losses[-1] < 0.3
    told = spotter.scores([batch])
    assert (told["fidelity"], told["placed"], told["spurious"]) == (100, 100, 0)
    doubled = batch.image.permute(0, 2, 3, 1).repeat_interleave(2, 1).repeat_interleave(2, 2)
    pairs = spotter.judged(doubled, batch.boxes, batch.classes, batch.there)
    assert layout_fidelity(pairs)["fidelity"] == 100  # pictures of any size are resized


def test_the_focal_loss_is_that_of_a_loop():
    heat = torch.randn(2, 3, 4, dtype=torch.double)
    target = torch.rand(2, 3, 4, dtype=torch.double)
    target[0, 1, 2] = target[1, 0, 0] = 1
    total = 0.0
    for logit, t in zip(heat.flatten().tolist(), target.flatten().tolist(), strict=True):
        p = 1 / (1 + math.exp(-logit))
        total -= (1 - p) ** 2 * math.log(p) if t == 1 else (1 - t) ** 4 * p**2 * math.log(1 - p)
    assert focal_loss(heat, target).item() == pytest.approx(total / 2)


def test_boxes_and_classes_are_judged_at_true_centres_alone():
    torch.manual_seed(0)
    boxes = torch.tensor([[[0.0, 0.1, 0.4, 0.5], [0.5, 0.5, 1, 0.9]], [[0.2, 0.2, 0.8, 0.4]] * 2])
    there = torch.tensor([[True, True], [True, False]])
    kinds = torch.tensor([[0, 2], [1, 0]])
    maps = PointMaps(*(torch.randn(2, *s, 4, 4) for s in ((), (2,), (2,), (3,))))
    told = spotting_losses(maps, boxes, kinds, there)
    place, offset, sides = centre_places(boxes, 4, 4)
    expected = {"offset": 0.0, "extent": 0.0, "classes": 0.0}
    for b, o in there.nonzero().tolist():
        i, j = divmod(int(place[b, o]), 4)
        expected["offset"] += (maps.offset[b, :, i, j] - offset[b, o]).abs().sum().item() / 3
        expected["extent"] += (maps.extent[b, :, i, j] - sides[b, o].log()).abs().sum().item() / 3
        logs = maps.classes[b, :, i, j].log_softmax(0)
        expected["classes"] -= logs[kinds[b, o]].item() / 3
    assert {name: told[name].item() for name in expected} == pytest.approx(expected, rel=1e-5)
    none = spotting_losses(maps, boxes, kinds, torch.zeros_like(there))
    assert all(none[name] == 0 for name in expected)
    assert none["centres"] > 0


def test_a_mirrored_picture_has_a_mirrored_layout(monkeypatch):
    """A flip changes nothing for a network that sees pictures mirrored."""
    spotter = made(flip=True)
    batch = spotter.examples(TRAIN).batch(np.arange(4))
    plain, seen = made(), []
    monkeypatch.setattr("torch.rand", lambda n, device: torch.zeros(n))
    monkeypatch.setattr(
        "polymodal.systems.layout.object_detector.spotting_losses",
        lambda maps, *layout: seen.append(layout) or {"loss": maps.heat.sum()},
    )
    spotter.training_step(batch, 0)
    plain.training_step(batch, 0)
    (boxes, kinds, there), (old, _, _) = seen
    assert torch.equal(boxes[there][:, 0], 1 - old[there][:, 2])
    assert torch.equal(boxes[there][:, 1], old[there][:, 1])
    assert torch.equal(kinds, batch.classes)


def test_scores_are_the_fidelity_of_what_is_found():
    spotter = made(threshold=0.1, candidates=5)
    examples = spotter.examples(VAL)
    batch = examples.batch(np.arange(len(examples)))
    pictures = batch.image.permute(0, 2, 3, 1)
    found = spotter.find(pictures)
    assert len(found) == len(batch)
    assert all(len(f.boxes) <= 5 and bool((f.scores >= 0.1).all()) for f in found)
    assert all(bool((f.scores.diff() <= 0).all()) for f in found)
    pairs = list(spotter.judged(pictures, batch.boxes, batch.classes, batch.there))
    assert [len(t.boxes) for t, _ in pairs] == batch.there.sum(1).tolist()
    assert spotter.evaluate(VAL) == pytest.approx(layout_fidelity(pairs), nan_ok=True)
    assert spotter.validate(VAL).keys() >= {spotter.monitor, "spurious"}


def test_a_run_is_trained_and_opened_again(tmp_path):
    splits = {"train": TRAIN, "val": VAL}
    training = Training(max_steps=4, batch_size=8, val_every=2)
    run = tmp_path / "run"
    jobs.train("spotter", TINY, training, data="drawn", run=run, opening=lambda *_, **__: splits)
    again = load(run)
    assert again.learned["classes"] == CLASSES
    assert again.evaluate(VAL)["pictures"] == len(again.examples(VAL))
    assert again.protocol()["threshold"] == 0.3


def test_what_cannot_be_done_is_told():
    with pytest.raises(PolymodalError, match=r"multiple of 16 pixels .* 40×40\. Add ',size=32'"):
        learn(TINY, drawn_layouts(4, 0, size=40))
    assert "no object at all" in made().symptoms({"found": 0.0})[0]
    assert not made().symptoms({"found": 3.0})
