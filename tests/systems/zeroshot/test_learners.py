"""Every learner of features: it learns, and classes it never saw are recognised."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from lightning import Trainer
from torch.utils.data import DataLoader

from learners import LEARNERS, made
from patches import SIZE, TEST, TRAIN, UNSEEN, Patches
from polymodal import systems
from polymodal.base.errors import PolymodalError
from polymodal.data.classes import has_classes
from polymodal.systems.zeroshot.class_examples import ClassMembers, PartnerBatch
from polymodal.systems.zeroshot.prototypes import ridge
from polymodal.training import recording
from recordings import Eager


def trained(system, steps):
    """Losses of steps on batches of 16."""
    adam = torch.optim.Adam(system.parameters(), system.config.lr)
    examples, order = system.examples(TRAIN), np.random.default_rng(0)
    losses = []
    system.train()
    for step in range(steps):
        batch = examples.batch(order.choice(len(examples), 16, replace=False))
        adam.zero_grad()
        found = system.training_step(batch, step)
        found["loss"].backward()
        adam.step()
        losses.append(found["shown"].item())
    return losses


def test_the_toy_is_a_dataset_with_classes():
    assert has_classes(TRAIN)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_it_learns_and_recognises_what_it_never_saw(name):
    system = made(name, **LEARNERS[name])
    losses = trained(system, 60)
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.2
    found = system.validate(TEST)
    assert found["chance"] == 25
    assert found["zsl_top1"] > (80 if name in ("fc", "pn", "cmdim") else 40)
    assert found["top1_among_all"] <= found["zsl_top1"]
    assert system.evaluate(TEST) == found  # by the prototypes that were kept


def test_partners_are_of_the_class():
    system = made("cmdim", p=0.5)
    examples = system.examples(TRAIN)
    indices = np.arange(len(TRAIN))
    partners = examples.partners_of(indices)
    assert (TRAIN.labels[partners] == TRAIN.labels[indices]).all()
    assert 0.3 < (partners != indices).mean() < 0.7
    assert np.array_equal(partners, examples.partners_of(indices))
    assert not np.array_equal(partners[::-1], examples.partners_of(indices[::-1]))
    always = made("cmdim").examples(TRAIN)
    assert (always.partners_of(indices) != indices).all()
    alone = type(always)(type(TRAIN)((3,), each=1), partners=1.0)
    assert alone.partners_of(np.array([0])).tolist() == [0]  # the only one of its class


@pytest.mark.parametrize("name", ["fc", "cmdim"])
def test_batches_on_a_device_are_the_same(name):
    examples = made(name).examples(TRAIN)
    indices = np.array([5, 90, 33])
    plain, kept = examples.batch(indices), examples.resident(torch.device("cpu")).batch(indices)
    assert type(plain) is type(kept)
    assert isinstance(kept, PartnerBatch) == (name == "cmdim")
    for field, value in vars(plain).items():
        assert torch.equal(value, getattr(kept, field))


def test_an_encoder_is_taken_from_another_run():
    first, second = made("fc"), made("cmdim")
    trained(first, 2)
    second.begin_from(first.state_dict(), first.learned)
    for name, value in first.encoder.state_dict().items():
        assert torch.equal(second.encoder.state_dict()[name], value)
    with pytest.raises(PolymodalError, match="with another encoder"):
        second.begin_from(made("fc", dim=16).state_dict(), {})


def test_what_a_learner_says_of_itself():
    system = made("fc")
    assert not system.symptoms({"zsl_top1": 60.0, "chance": 25.0})
    (ill,) = system.symptoms({"zsl_top1": 26.0, "chance": 25.0})
    assert "Unseen classes are recognised hardly above chance level (26.0 % against" in ill
    (ill,) = system.symptoms({"zsl_top1": 26.0, "chance": 25.0, "classes_learned": 100.0})
    assert "Classes are recognised hardly above" in ill
    assert system.symptom(1.0) is None
    names = list(TRAIN.classes)
    assert system.learned == {"size": SIZE, "classes": 16, "attributes": 8, "names": names}
    system.learned_from = None
    with pytest.raises(PolymodalError, match="fitted to the training images"):
        system.validate(TEST)


class Larger(Patches):
    """The same classes, in larger pictures."""

    def drawn(self, indices):
        return super().drawn(indices).repeat(2, axis=1).repeat(2, axis=2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            Patches(TEST.chosen, classes=tuple("abcdefghijklmnop")),
            "knows 16 classes, '0 over 0' the first of them; these data have 16, 'a'",
        ),
        (Larger(TEST.chosen), "takes pictures of 40×40, but the data are 80×80. Add ',size=40'"),
    ],
)
def test_data_that_are_not_for_the_model(data, message):
    with pytest.raises(PolymodalError, match=message):
        made("fc").evaluate(data)


@pytest.mark.parametrize("decay", [False, True])
def test_the_rate_stays_or_falls(decay):
    found = made("fc", decay=decay).configure_optimizers()
    assert isinstance(found, dict) == decay
    if decay:
        shares = found["lr_scheduler"]["scheduler"].lr_lambdas[0]
        assert [round(shares(step), 2) for step in (0, 30, 60)] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("fc", {"local_per_position": True}, "give --local attributes or --local labels too"),
        ("fc", {"local_centred": True}, "an option of --local attributes"),
    ],
)
def test_settings_that_cannot_be(name, setting, message):
    with pytest.raises(PolymodalError, match=message):
        systems.system_named(name).Config(**setting)


def test_data_without_classes_are_refused(squares):
    from polymodal.data.folder import open_folder
    from polymodal.systems.zeroshot import fc

    with pytest.raises(PolymodalError, match="have no classes with attributes"):
        fc.learn(fc.Config(), open_folder(squares, size=16, progress=False)["train"])


@pytest.mark.parametrize("labels", [[0, 1, 0, 2, 1, 0, 0], [5], [3, 3]])
def test_others_are_all_of_the_class_but_itself(labels):
    """Against a search through all pictures, for every number that may be drawn."""
    members = ClassMembers(np.array(labels))
    for index, label in enumerate(labels):
        expected = {i for i, other in enumerate(labels) if other == label and i != index} or {index}
        drawn = np.linspace(0, 1, 50, endpoint=False)
        found = members.others(np.full(50, index), drawn)
        assert set(found.tolist()) == expected
        counts = np.bincount(found, minlength=len(labels))[sorted(expected)]
        assert counts.max() - counts.min() <= 2  # each as likely as any


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_takes_the_same_steps_from_a_recording(name, monkeypatch):
    """And nothing in a step looks at a number, which a graph on a device could not."""
    found = []
    for recorded in (False, True):
        system = made(name, local="attributes", dropout=0.2, **LEARNERS[name])
        system.recorded = recorded
        monkeypatch.setattr(recording, "Recording", Eager)
        monkeypatch.setattr(recording, "recordable", lambda device: True)
        adam = system.configure_optimizers()
        batch = system.examples(TRAIN).batch(np.arange(0, 96, 6))
        for step in range(3):
            torch.manual_seed(step)
            outputs = system.train().training_step(batch, step)
            system.optimizer_zero_grad(0, step, adam)
            system.backward(outputs["loss"])
            adam.step()
        assert (system.recording is not None) == recorded
        found.append(system.state_dict())
    plain, played = found
    assert all(torch.equal(plain[key], played[key]) for key in plain)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record on")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_graph_takes_the_same_steps(name):
    """Crops and dropout drawn alike; compiled ones are drawn otherwise, so that they are left out."""
    losses = []
    for recorded in (False, True):
        system = made(name, local="attributes", dropout=0.2, **LEARNERS[name]).cuda().train()
        system.recorded = recorded
        adam = system.configure_optimizers()
        batch = system.examples(TRAIN).batch(np.arange(0, 96, 6)).to("cuda")
        losses.append([])
        for step in range(8):
            torch.manual_seed(step)
            outputs = system.training_step(batch, step)
            losses[-1].append(outputs["shown"].item())
            system.optimizer_zero_grad(0, step, adam)
            system.backward(outputs["loss"])
            adam.step()
        assert (system.recording is not None) == recorded
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


def test_the_ridge_is_kept_beside_the_prototypes():
    """Of a network that learns its prototypes itself too."""
    for name in ("fc", "pn"):
        system = made(name)
        trained(system, 20)
        scores = system.validate(TEST)
        features, labels = system.features(TRAIN)
        prototypes = ridge(features, labels, system.attributes, system.config.ridge)
        assert torch.equal(system.ridges, prototypes)
        middle = torch.stack([features[labels == c].mean(0) for c in labels.unique()]).mean(0)
        (tested, classes), around = system.features(TEST), prototypes - middle
        right = [
            max(UNSEEN, key=lambda c: torch.cosine_similarity(row - middle, around[c], dim=0))
            == own
            for row, own in zip(tested, classes, strict=True)
        ]
        assert scores["zsl_top1_ridge"] == pytest.approx(100 * np.mean(right))


def test_a_handicap_makes_seen_classes_less_likely():
    system = made("fc")
    trained(system, 20)
    plain = system.validate(TEST)
    system.config = replace(system.config, calibration_factor=10.0)
    never = system.evaluate(TEST)
    assert never["top1_among_all"] == plain["zsl_top1"] >= plain["top1_among_all"]
    assert system.evaluate(TRAIN)["top1_among_all"] == 0
    assert system.protocol()["handicap"] == 10.0


def test_the_generalised_setting_joins_two_splits():
    system = made("fc")
    scores = {
        "test_seen": {"top1_among_all": 60.0, "classes_learned": 100.0},
        "test": {"top1_among_all": 30.0, "classes_learned": 0.0},
    }
    assert system.joined(scores)["test"] == scores["test"] | {
        "gzsl_seen": 60.0,
        "gzsl_unseen": 30.0,
        "gzsl_harmonic": 40.0,
    }
    assert system.joined(scores)["test_seen"] == scores["test_seen"]
    scores["test_seen"]["classes_learned"] = 70.0
    assert system.joined(scores) == scores
    assert system.joined({"val": {}}) == {"val": {}}


def test_pictures_on_the_device_are_not_read_again():
    class Counting(Patches):
        read = 0

        def drawn(self, indices):
            type(self).read += len(indices)
            return super().drawn(indices)

    dataset = Counting(TRAIN.chosen)
    system = made("fc", fit_steps=1)
    system.start(dataset)
    system.examples(dataset).resident(torch.device("cpu"))
    assert Counting.read == len(dataset)
    system.validate(TEST)
    assert Counting.read == len(dataset)


@pytest.mark.filterwarnings("ignore")
def test_gradients_of_a_fused_adam_are_clipped_in_bf16(monkeypatch):
    """As on a GPU: Lightning's own clipping refuses it there."""
    monkeypatch.setattr(type(made("fc")), "configure_optimizers", fused_adam)
    system = made("fc")
    trainer = Trainer(
        precision="bf16-mixed",
        gradient_clip_val=1e-3,
        max_steps=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    batch = system.examples(TRAIN).batch(np.arange(16))
    trainer.fit(system, DataLoader([batch], batch_size=None, collate_fn=lambda one: one))
    assert norm(system) == pytest.approx(1e-3, rel=1e-3)


def fused_adam(system):
    return torch.optim.Adam(system.parameters(), 1e-3, fused=True)


def norm(system):
    grads = [p.grad.flatten() for p in system.parameters() if p.grad is not None]
    return torch.cat(grads).norm().item()
