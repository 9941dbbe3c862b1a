"""VLVAE: it can learn, every choice takes its steps, and what cannot be is said."""

import numpy as np
import pytest
import torch

from polymodal.base.config import from_settings
from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import Words
from polymodal.data.folder import Folder, open_folder
from polymodal.data.image_texts import ImageTextBatch
from polymodal.systems.vlvae.vlvae import Config, build, learn
from vlvaes import TINY, stirred, tiny


@pytest.fixture(scope="module")
def splits(squares) -> Folder:
    return open_folder(squares, size=16, progress=False)


def descend(system, batch: ImageTextBatch, steps: int) -> list[float]:
    """The loss of each step of a training on one batch: Adam with the system's own rates."""
    system.clock.last = steps
    how = system.configure_optimizers()
    adam, rates = how["optimizer"], how["lr_scheduler"]["scheduler"]
    losses = []
    system.train()
    for step in range(steps):
        system.clock.step = step
        adam.zero_grad()
        found = system.training_step(batch, step)
        found["loss"].backward()
        adam.step()
        rates.step()
        losses.append(found["shown"].item())
    return losses


WIDE = {
    "width": 16, "code": 64, "flow_hidden": 32, "flow_samples": 4, "dropout": 0.0, "lr": 5e-3,
    "flow_lr": 3e-3, "image_weight": 0.1, "text_weight": 100.0, "warmup": 0.95, "flow_share": 0.3,
}  # fmt: skip
"""What learns four pictures in two hundred steps."""


@pytest.mark.slow
def test_it_overfits_one_batch(squares):
    """It sees what a picture shows, draws it again, and draws the picture of each text."""
    train = open_folder(squares, size=24, progress=False)["train"]
    system = tiny(train, **WIDE)
    white = system.examples(train).batch(np.arange(3, 16, 4))  # at each of four places
    texts = white.texts[:, :1]  # the captions that name the place
    thrice = ImageTextBatch(white.images.repeat(3, 1, 1, 1), texts.repeat(3, 1, 1))
    losses = descend(system, thrice, 300)
    assert losses[0] > 1000
    assert losses[209] < 0

    pictures = white.images.permute(0, 2, 3, 1).numpy()
    said = system.words.decode(texts[:, 0])
    assert len(set(said)) == 4
    assert system.caption(list(pictures)) == said
    with torch.no_grad():
        again = 256 * system.imagined(system.model.posterior(white.images, None).mean)
    away = (again - white.images.float()).square().mean().sqrt()
    assert away < 0.4 * white.images.float().std()

    drawn = np.stack([system.generate(text, 8) for text in said]).astype(float)  # texts draws h w 3
    away = np.square(drawn[:, :, None] - pictures).mean((3, 4, 5))
    right = away.argmin(-1) == np.arange(4)[:, None]
    assert right.mean() > 0.85


CHOICES = [
    {"infer_from": "text"},
    {"infer_from": "both"},
    {"text_decoder": "transformer"},
    {"norm": "renorm"},
    {"decoder_dim": 24},
    {"decoder_dim": 24, "text_decoder": "transformer"},
    {"likelihood": "gaussian"},
    {"likelihood": "laplace"},
    {"likelihood": "logistic"},
    {"flow": "splines"},
    {"flow": "gaussian"},
    {"shuffle": True},
    {"samples": 3},
    {"free_bits": 0.2},
    {"joint": 0.5},
    {"infer_from": "both", "joint": 0.5, "samples": 2, "shuffle": True},
    {"densities": ("aggregate",)},
    {"densities": ("true",)},
    {"densities": ("prior",)},
]


@pytest.mark.parametrize("choice", [{}, *CHOICES], ids=str)
def test_every_choice_takes_two_steps_of_either_stage(splits, choice):
    system = tiny(splits["train"], **{"flow_share": 0.5, "lr": 1e-2, "flow_lr": 1e-2} | choice)
    batch = system.examples(splits["train"]).batch(np.arange(8))
    before = {name: value.clone() for name, value in system.named_parameters()}
    losses = descend(system, batch, 4)
    assert np.isfinite(losses).all()
    still = {k for k, v in system.named_parameters() if torch.equal(v, before[k])}
    assert not still
    learned = {name.split(".")[1] for name in before if name.startswith("densities.")}
    assert learned == set(system.config.densities)
    scores = system.evaluate(splits["val"])
    assert np.isfinite(list(scores.values())).all()
    assert system.monitor in scores


@pytest.mark.parametrize(
    ("infer_from", "by_image", "by_text"),
    [("image", True, False), ("text", False, True), ("both", True, True)],
)
@torch.no_grad()
def test_the_posterior_sees_what_it_is_told_to(splits, infer_from, by_image, by_text):
    system = stirred(tiny(splits["train"], infer_from=infer_from))
    batch = system.examples(splits["train"]).batch(np.arange(8))
    images, texts = batch.images, batch.texts[:, 0]
    mean = system.model.posterior(images, texts).mean
    other_image = system.model.posterior(images.flip(0), texts).mean
    other_text = system.model.posterior(images, texts.flip(0)).mean
    assert torch.equal(mean, other_image) != by_image
    assert torch.equal(mean, other_text) != by_text


def test_it_learns_the_words_and_the_size_of_the_training_split(splits):
    learned = learn(Config(), splits["train"])
    assert learned["size"] == 16
    assert Words.from_json(learned["words"]).length == 6
    assert {"red", "left", "something"} < set(learned["words"]["words"])
    system = build(Config(**TINY), learned)
    assert len(system.words) == 14
    assert system.examples(splits["val"]).texts.shape == (16, 2, 6)


def test_an_empty_split_has_nothing_to_learn_from(splits):
    empty = splits["train"].take([])
    with pytest.raises(PolymodalError, match="training split is empty"):
        learn(Config(), empty)


def test_it_begins_from_the_model_of_another_run(splits):
    train = splits["train"]
    first, learned = stirred(tiny(train)), learn(Config(), train)
    second = tiny(train, flow="splines", densities=("aggregate",))
    second.begin_from(first.state_dict(), learned)
    mine, theirs = second.state_dict(), first.state_dict()
    for name in mine:
        if name.startswith(("model.", "densities.aggregate.encoder.")):
            assert torch.equal(mine[name], theirs[name]), name
    fresh = tiny(train, flow="splines", densities=("aggregate",)).state_dict()
    last = "densities.aggregate.flow.conditioners.0.tell.3.weight"  # a spline has more to be told
    assert torch.equal(mine[last], fresh[last])


def test_it_does_not_begin_from_what_does_not_fit(splits):
    train = splits["train"]
    system, learned = tiny(train), learn(Config(), train)
    wider = tiny(train, code=24).state_dict()
    with pytest.raises(
        PolymodalError, match=r"another shape of model: model\.image_encoder\.head.*same data"
    ):
        system.begin_from(wider, learned)
    with pytest.raises(PolymodalError, match=r"another shape of model: .* Start from a run"):
        system.begin_from({"images.head.weight": torch.zeros(2)}, {"vocabulary": []})
    other = {**learned, "words": {**learned["words"], "length": 7}}
    with pytest.raises(
        PolymodalError, match=r"--init names a run with other words .* of model\. S"
    ):
        system.begin_from(tiny(train).state_dict(), other)


def test_a_latent_variable_that_says_nothing_or_too_much_is_named(splits):
    system = tiny(splits["train"])
    nothing, much = (system.symptoms({"kl": kl}) for kl in (0.4, 8.4))
    assert len(nothing) == len(much) == 1
    assert "has almost no information (KL 0.40 nats)" in nothing[0]
    assert "Try a longer --warmup, --free-bits 0.1" in nothing[0]
    assert "holds 8 nats in 4 dimensions" in much[0] and "smaller --image-weight" in much[0]
    assert system.symptoms({"kl": 1.0}) == system.symptoms({"kl": 8.0}) == []
    assert system.symptom(1e9) is None


def test_protocol(splits):
    assert tiny(splits["train"]).protocol() == {
        "likelihood": "beta, pictures as bytes",
        "weights": {"image": 0.003, "text": 10.0},
        "texts": "all true ones, one drawn for an image",
        "bounds": "log p(y) by q_agg under either prior, and by q_true under N(0, I)",
    }
    assert tiny(splits["train"], shuffle=True).protocol()["texts"] == "shuffled"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"flow_lr": float("inf")}, "flow_lr must be above 0, not inf"),
        ({"text_weight": float("nan")}, "text_weight must be 0 or more, not nan"),
        ({"flow_share": 0.0}, "or neither; found aggregate, true, prior and 0"),
        ({"densities": ()}, "both --densities and a --flow-share above 0, or neither; found none"),
        ({"joint": 1.0, "densities": ("true",)}, "keep 'aggregate' among --densities"),
        ({"samples": 2, "free_bits": 0.1}, r"no separate KL term for --free-bits\. Give"),
    ],
)
def test_settings_that_cannot_be(setting, message):
    with pytest.raises(PolymodalError, match=message):
        Config(**setting)


def test_stage_two_may_be_left_out_or_learn_less():
    """As a settings file says it, where there are lists alone."""
    for densities, share in ([], 0), (["prior"], 0.1):
        settings = {"densities": densities, "flow_share": share}
        assert from_settings(Config, settings, "config.yaml").densities == tuple(densities)


def test_couplings_need_two_dimensions(splits):
    with pytest.raises(PolymodalError, match="2 dimensions or more"):
        tiny(splits["train"], latent=1)
