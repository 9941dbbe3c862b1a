"""The classifier of object crops: it learns, its scores are those of a loop, CA and CAS of known pictures."""

import dataclasses

import numpy as np
import pytest
import torch

from drawn_layouts import CLASSES, drawn_layouts
from polymodal import load
from polymodal.base.errors import PolymodalError
from polymodal.cli.train import parse
from polymodal.metrics.picture_scores import PictureScores
from polymodal.nn.picture_crops import crops, resized
from polymodal.runs import jobs
from polymodal.systems.layout.crop_classifier import CropBatch, CropClassifier, cut, cut_batch
from polymodal.systems.layout.crop_learning import (
    classification_scores,
    joined_crops,
    train_on_crops,
)
from polymodal.systems.layout.crops import Config, build, learn
from polymodal.training.training_config import Training
from toys import fall

TINY = Config(width=8, dim=16, fewest=1, least_area=0.0, lr=3e-3)
TRAIN, VAL = drawn_layouts(48, 0), drawn_layouts(24, 1)


def made(**changes) -> CropClassifier:
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, **changes)
    return build(config, learn(config, TRAIN))


def crops_of(classifier: CropClassifier, dataset) -> CropBatch:
    return joined_crops([cut_batch(b) for b in classifier.examples(dataset).blocks(size=10)])


@pytest.fixture(scope="module")
def trained() -> CropClassifier:
    classifier = made()
    return train_on_crops(crops_of(classifier, TRAIN), CLASSES, TINY, steps=60, batch_size=32)


def test_it_overfits_one_batch():
    classifier = made()
    batch = classifier.examples(TRAIN).batch(np.arange(8))
    losses = fall(classifier, batch, 60)
    assert losses[0] > 1
    assert losses[-1] < 0.05
    assert classifier.scores([cut_batch(batch)])["accuracy"] == 100


def test_objects_are_cut_at_their_boxes():
    batch = made().examples(TRAIN).batch(np.arange(6))
    found = cut_batch(batch)
    assert len(found) == int(batch.there.sum())
    pictures, number = batch.image.permute(0, 2, 3, 1), 0
    for i in range(6):
        for box, kind, there in zip(batch.boxes[i], batch.classes[i], batch.there[i], strict=True):
            if there:
                part = crops(pictures, box[None], torch.tensor([i]), 32)[0]
                assert torch.equal(found.crops[number], part.round().byte())
                assert found.labels[number] == kind
                number += 1


def test_it_learns_the_classes():
    learned = learn(TINY, TRAIN)
    assert learned["classes"] == CLASSES
    assert build(TINY, learned).net.classifier.out_features == 4


def test_scores_are_those_of_a_loop(trained):
    told = trained.evaluate(VAL)
    batch = crops_of(trained, VAL)
    right = [
        int(trained.classify(crop[None]).argmax()) == int(label)
        for crop, label in zip(batch.crops, batch.labels, strict=True)
    ]
    assert told["accuracy"] == pytest.approx(100 * sum(right) / len(right))
    assert told["objects"] == len(right)
    by_class = [
        np.mean([r for r, k in zip(right, batch.labels, strict=True) if k == c]) for c in range(4)
    ]
    assert told["class_accuracy"] == pytest.approx(100 * np.mean(by_class))
    assert told["accuracy"] > 90
    assert trained.validate(VAL) == told


def test_features_give_the_logits(trained):
    batch = crops_of(trained, VAL)
    features = trained.features(batch.crops)
    torch.testing.assert_close(trained.net.classifier(features), trained.classify(batch.crops))
    assert not features.requires_grad


def test_it_is_a_feature_network(trained):
    network = trained.network("runs/crops")
    pictures = torch.from_numpy(VAL.images(range(5)))
    seen = network.see(pictures)
    torch.testing.assert_close(seen.features, trained.net(resized(pictures, 32)).features)
    assert seen.logits is None
    assert network.fingerprint()["network"] == "runs/crops"
    scores = PictureScores(network)
    batch = trained.examples(VAL).batch(np.arange(20))
    real = batch.image.permute(0, 2, 3, 1)
    scores.add(real, 255 - real, batch.boxes, batch.there)
    told = scores.scores()
    assert told["scene_fid"] > 1
    assert "is" not in told


def test_cas_is_high_where_made_objects_are_like_real_ones_and_low_where_classes_are_mixed_up(
    trained,
):
    real, other = crops_of(trained, VAL), crops_of(trained, TRAIN)
    how = {"steps": 60, "batch_size": 32}
    good = classification_scores(other, real, CLASSES, TINY, **how)
    wrong = CropBatch(other.crops, (other.labels + 1) % 4)
    bad = classification_scores(wrong, real, CLASSES, TINY, **how)
    assert good["cas"] > 90
    assert bad["cas"] < 10
    assert (good["cas_objects"], good["cas_crops"]) == (len(real), len(other))


def test_training_on_crops_follows_from_the_seed_and_leaves_torchs_generator():
    batch = crops_of(made(), TRAIN)
    before = torch.get_rng_state()
    first = train_on_crops(batch, CLASSES, TINY, steps=3, batch_size=8)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)
    again = train_on_crops(batch, CLASSES, TINY, steps=3, batch_size=8)
    assert torch.equal(first.classify(batch.crops), again.classify(batch.crops))
    other = train_on_crops(batch, CLASSES, TINY, steps=3, batch_size=8, seed=1)
    assert not torch.equal(first.classify(batch.crops), other.classify(batch.crops))


def test_a_run_is_trained_and_opened_again(tmp_path):
    splits = {"train": TRAIN, "val": VAL}
    training = Training(max_steps=4, batch_size=8, val_every=2)
    run = tmp_path / "run"
    jobs.train("crops", TINY, training, data="drawn", run=run, opening=lambda *_, **__: splits)
    again = load(run)
    assert again.evaluate(VAL)["objects"] == len(crops_of(again, VAL))
    assert again.protocol()["crop"] == 32


@pytest.mark.parametrize("system", ["crops", "spotter"])
def test_every_setting_has_a_flag_of_its_own(system):
    _, model, _ = parse(system, ["--data", "scenes", "--run", "r", "--width", "16", "--no-flip"])
    assert (model.width, model.flip) == (16, False)


def test_a_class_that_is_not_learned_is_refused_before_training():
    few = drawn_layouts(6, 3)
    learned = {"classes": CLASSES[1:], "size": 32}
    with pytest.raises(PolymodalError, match=r"class in the layout of 3-\d: 'green cross'"):
        build(TINY, learned).check({"val": few})


def test_what_cannot_be_done_is_told():
    none = CropBatch(torch.zeros(0, 3, 32, 32, dtype=torch.uint8), torch.zeros(0, dtype=torch.long))
    with pytest.raises(PolymodalError, match="two crops or more; found 0"):
        train_on_crops(none, CLASSES, TINY)
    with pytest.raises(PolymodalError, match="no objects to recognise"):
        made().scores([none])
    with pytest.raises(PolymodalError, match="width must be a multiple of 8, not 12"):
        Config(width=12)
    assert "guesses" in made().symptom(1.4)
    assert made().symptom(1.0) is None


def test_no_objects_are_no_crops():
    pictures = torch.zeros(2, 8, 8, 3, dtype=torch.uint8)
    nothing = torch.zeros(2, 0, dtype=torch.long)
    assert len(cut(pictures, torch.zeros(2, 0, 4), nothing, nothing.bool())) == 0
