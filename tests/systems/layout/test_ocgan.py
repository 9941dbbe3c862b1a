"""OC-GAN: its steps, what they move, pictures of layouts, resuming, and every message."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import ocgans
from ocgans import SCENES, TINY, train_gan, train_matching
from polymodal import load
from polymodal.base.errors import PolymodalError
from polymodal.data.layout_record import Layout
from polymodal.data.sources import open_splits
from polymodal.runs.run_folder import Run
from polymodal.systems.layout.ocgan import Config, build, learn
from polymodal.training.checkpoints import SafeCheckpoints
from toys import killed_at, write_backbone

TRAINING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import ocgans
ocgans.train_gan(Path(sys.argv[2]), Path(sys.argv[3]), parts={"sgsm": Path(sys.argv[4])})
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> Path:
    """A tiny network that losses and scores look through."""
    return write_backbone(tmp_path_factory.mktemp("seen"), "resnet")


@pytest.fixture(scope="module")
def matching(tmp_path_factory) -> Path:
    """The run of a tiny similarity module."""
    run = tmp_path_factory.mktemp("runs") / "sgsm"
    train_matching(run)
    return run


@pytest.fixture(scope="module")
def whole(seen, matching, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "whole"
    return run, train_gan(run, seen, parts={"sgsm": matching})


@pytest.fixture(scope="module")
def train():
    return open_splits(SCENES)["train"]


def system(train, **model):
    config = Config(**TINY | {"lambda_p": 0.0} | model)
    torch.manual_seed(0)
    return build(config, learn(config, train))


def last(run: Path) -> dict:
    return SafeCheckpoints().load_checkpoint(sorted(run.glob("checkpoints/*.ckpt"))[-1])


def killed(run: Path, seen: Path, matching: Path, step: int) -> None:
    """Train in a process of its own, and kill -9 it as soon as there is a checkpoint of this step."""
    arguments = (str(Path(ocgans.__file__).parent), str(run), str(seen), str(matching))
    killed_at(run, step, "-c", TRAINING, *arguments)


@pytest.mark.slow
def test_a_killed_training_ends_as_if_it_had_not_been(whole, seen, matching, tmp_path, capsys):
    run, metrics = whole
    killed(tmp_path / "run", seen, matching, 4)
    again = train_gan(tmp_path / "run", seen, parts={"sgsm": matching})
    assert "Going on from step" in capsys.readouterr().err
    mine, theirs = last(tmp_path / "run"), last(run)
    for name, value in theirs["state_dict"].items():
        assert torch.equal(mine["state_dict"][name], value), name
    for one, other in zip(mine["optimizer_states"], theirs["optimizer_states"], strict=True):
        for place, moments in other["state"].items():
            assert all(torch.equal(one["state"][place][k], v) for k, v in moments.items())
    weights = "model.safetensors"
    assert (tmp_path / "run" / weights).read_bytes() == (run / weights).read_bytes()
    assert again["scores"] == metrics["scores"]


def test_a_run_has_scores_and_says_how_they_were_made(whole, seen):
    _, metrics = whole
    assert {"fid", "scene_fid", "kid", "diversity", "picture_distance"} <= metrics["scores"][
        "test"
    ].keys()
    protocol = metrics["protocol"]
    assert protocol["selection"] == "lowest fid on val"
    assert protocol["losses"] == {"perceptual": [seen.name, 2.0], "sgsm": 1.0}
    assert protocol["measured_by"]["network"] == seen.name
    assert protocol["measured_by"]["splits"] == 5
    assert protocol["measured_by"]["kid"]["size"] == 8
    assert protocol["measured_by"]["made_pictures"] == metrics["scores"]["test"]["pictures"] == 16
    assert len(metrics["curves"]) == 12


def test_too_few_pictures_for_a_distance_are_named(train, seen):
    own = system(train, measured_by=str(seen))
    assert not own.symptoms({})
    own.evaluate(train.take(range(4)))
    assert any(told.startswith("fid: A covariance of") for told in own.symptoms({}))


def test_both_learn_and_what_is_frozen_is_no_part_of_the_weights(whole, train):
    run, _ = whole
    start = system(train).state_dict()
    moved = {k for k, v in last(run)["state_dict"].items() if not torch.equal(v, start[k])}
    parts = {name.split(".")[0] for name in moved}
    assert parts == {"generator", "discriminators", "average", "lambda_sgsm"}
    assert {name.split(".")[0] for name in start} == parts


KINDS = {
    "oc-gan": {},
    "no boundaries": {"boundaries": False},
    "lostgan": {"conditioning": "lostgan"},
    "spade": {"conditioning": "spade"},
    "one patch": {"patch_discriminators": 1},
    "no patch": {"patch_discriminators": 0},
    "no object": {"object_discriminator": False},
    "more": {"flips": True, "augment": True, "r1": 1.0},
}


class Stepper:
    """A system's own steps, without a trainer."""

    def __init__(self, own) -> None:
        self.own = own.train()
        self.optimizers = own.configure_optimizers()
        own.optimizers = lambda: self.optimizers
        own.manual_backward = lambda loss: loss.backward()
        own._trainer = SimpleNamespace(optimizers=self.optimizers)

    def step(self, batch, number: int) -> float:
        self.own.clock.step = number
        return self.own.training_step(batch, number)["shown"].item()


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_learns_whatever_the_settings(train, kind):
    own = system(train, **KINDS[kind])
    stepper = Stepper(own)
    before = {name: p.clone() for name, p in own.named_parameters()}
    examples = own.examples(train)
    for step in range(6):
        torch.manual_seed(step)
        stepper.step(examples.batch(np.arange(16 * step, 16 * step + 16)), step)
    still = {name for name, p in own.named_parameters() if torch.equal(p, before[name])}
    # within the margins of a hinge loss, real and drawn pictures pull a score's bias alike
    assert not {name for name in still if not name.endswith((".8.bias", "real.bias"))}


@pytest.mark.slow
def test_discriminators_learn_to_tell_drawn_from_real(train):
    own = system(train, lr=1e-3)
    stepper, batch = Stepper(own), own.examples(train).batch(np.arange(8))
    torch.manual_seed(0)
    shown = [stepper.step(batch, step) for step in range(40)]
    assert shown[0] == pytest.approx(2, abs=0.1)
    assert min(shown) < 1.75


@pytest.mark.slow
def test_with_the_perceptual_loss_a_batch_is_drawn(train, seen):
    """The generator nears the pictures of one batch."""
    own = system(train, lambda_p=20.0, perceptual=str(seen), lr=4e-3, ema=0.5)
    own.start(train)
    stepper, batch = Stepper(own), own.examples(train).batch(np.arange(4))
    apart = []
    for step in range(50):
        torch.manual_seed(step)
        stepper.step(batch, step)
        if step in (0, 49):
            made = own.eval().made(batch, first=0).permute(0, 3, 1, 2)
            apart.append((made.float() - batch.image.float()).abs().mean().item())
            own.train()
    assert apart[1] < 0.8 * apart[0]


def test_pictures_are_those_of_the_average(train):
    own = system(train, ema=0.9)
    stepper, examples = Stepper(own), own.examples(train)
    for step in range(3):
        stepper.step(examples.batch(np.arange(8)), step)
    batch = examples.batch(np.arange(4))
    before = own.eval().made(batch, first=0)
    with torch.no_grad():
        for parameter in own.generator.parameters():
            parameter.zero_()
    assert torch.equal(own.made(batch, first=0), before)


def test_drawing_pictures_changes_nothing(train):
    own = system(train).train()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    own.made(own.examples(train).batch(np.arange(4)), first=0)
    assert all(torch.equal(value, before[name]) for name, value in own.state_dict().items())


def test_what_is_left_out_is_told(train, capsys):
    system(train).examples(train)
    assert not capsys.readouterr().err
    own = system(train, least_area=0.02)
    own.examples(train)
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("Of 96 images: ")
    assert f"{len(own.examples(train))} layouts (left out: " in said
    assert "objects of at most 0.02 of the picture" in said


def layout(classes, *boxes) -> Layout:
    return Layout(tuple(classes), np.array(boxes, np.float32))


ONE, TWO = (0.1, 0.1, 0.5, 0.6), (0.4, 0.3, 0.9, 0.9)


def test_pictures_are_composed_of_a_layout(whole):
    model = load(whole[0])
    assert "compose" in model.can
    one = layout(model.classes[:1], ONE)
    pictures = model.compose(one, count=3, seed=4)
    assert (pictures.shape, pictures.dtype) == ((3, 32, 32, 3), np.uint8)
    assert np.array_equal(model.compose(one, count=2, seed=4), pictures[:2])
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(model.compose(one, seed=5)[0], pictures[0])
    sure = model.compose(one, count=2, truncation=0.0)
    assert np.array_equal(sure[0], sure[1])


def test_pictures_of_several_layouts_have_the_same_noise(whole):
    model = load(whole[0])
    one, two = layout(model.classes[:1], ONE), layout(model.classes[:2], ONE, TWO)
    both = model.compose([one, two], count=2)
    assert len(both) == 4
    difference = np.abs(both[:2].astype(int) - model.compose(one, count=2))
    assert difference.max() <= 1  # rounding: an object that is not there is added up
    difference = np.abs(both[2:].astype(int) - model.compose(two, count=2))
    assert difference.max() <= 1


def test_what_cannot_be_composed_is_refused(whole):
    model = load(whole[0])
    one = layout(model.classes[:1], ONE)
    with pytest.raises(PolymodalError, match="count must be 1 or more"):
        model.compose(one, count=0)
    with pytest.raises(PolymodalError, match="truncation is a share of the noise's deviation"):
        model.compose(one, truncation=-1.0)
    with pytest.raises(PolymodalError, match="dragon"):
        model.compose(layout(["dragon"], ONE))
    with pytest.raises(PolymodalError, match="There is no layout"):
        model.compose([])


def test_a_similarity_loss_needs_its_module(train):
    own = system(train, lambda_sgsm=1.0)
    with pytest.raises(
        PolymodalError, match=r"module is missing\. Train one with `polymodal train sgsm"
    ):
        own.check({})


def test_the_module_s_weight_is_1_where_none_is_given(train, matching, capsys):
    weights, learned = Run(matching).weights(), Run(matching).learned
    own = system(train)
    own.check({})
    assert "give --parts sgsm=RUN" in capsys.readouterr().err
    assert own.lambda_sgsm == 0
    own.take("sgsm", weights, learned)
    assert own.lambda_sgsm == 1
    assert not any(p.requires_grad for p in own.similarity[0].parameters())
    other = system(train, lambda_sgsm=0.25)
    other.take("sgsm", weights, learned)
    assert other.lambda_sgsm == 0.25


def test_parts_that_do_not_fit_are_refused(train, matching):
    weights, learned = Run(matching).weights(), Run(matching).learned
    own = system(train)
    with pytest.raises(
        PolymodalError, match=r"Unknown part of this system 'sgms'\. Did you mean 'sgsm'"
    ):
        own.take("sgms", weights, learned)
    with pytest.raises(
        PolymodalError, match="names a run that has no scene-graph similarity module"
    ):
        own.take("sgsm", weights, {"classes": []})
    with pytest.raises(PolymodalError, match="knows other classes than these data have"):
        own.take("sgsm", weights, learned | {"classes": learned["classes"][1:]})
    with pytest.raises(PolymodalError, match="in another order"):
        own.take("sgsm", weights, learned | {"classes": learned["classes"][::-1]})
    with pytest.raises(PolymodalError, match="pictures of 64 pixels a side, but these are of 32"):
        own.take("sgsm", weights, learned | {"size": 64})


def test_a_perceptual_loss_needs_maps(train, tmp_path):
    own = system(train, lambda_p=1.0, perceptual=str(write_backbone(tmp_path, "vit")))
    with pytest.raises(PolymodalError, match="gives no maps, of which the perceptual loss is made"):
        own.start(train)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"patch_discriminators": 0, "object_discriminator": False}, "leave nothing to learn from"),
        ({"patch_discriminators": 0, "r1": 1.0}, "--r1 is of patch discriminators"),
        ({"patch_discriminators": 3}, "patch_discriminators must be 0, 1 or 2, not 3"),
        ({"mask_side": 12}, "mask_side must be 8, 16 or 32, not 12"),
        ({"ema": 1.0}, "ema is a share, from 0 to below 1"),
        ({"lambda_p": -1.0}, "lambda_p is a weight, 0 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(PolymodalError, match=message):
        Config(**settings)


def test_other_sizes_of_pictures_are_refused():
    train = open_splits("scenes,size=48,train=2,val=2,test=2")["train"]
    with pytest.raises(PolymodalError, match=r"48×48\. Add ',size="):
        learn(Config(**TINY), train)


def test_collapse_is_named(train):
    own = system(train)
    assert "The discriminators have won" in own.symptom(0.01)
    assert own.symptom(1.0) is None
    assert "All pictures of one layout are alike" in own.symptoms({"picture_distance": 0.1})[0]
    assert not own.symptoms({"picture_distance": 5.0})
