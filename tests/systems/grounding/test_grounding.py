"""The system of grounding: it learns where things are from captions alone, and says what it cannot do."""

import json

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data import Dataset
from polymodal.data.batch_order import Order
from polymodal.data.proposals import RegionFeatures, joined
from polymodal.data.records import Caption
from polymodal.systems.grounding import grounding
from polymodal.systems.grounding.grounding_system import Grounding
from polymodal.systems.grounding.phrase_attention import telling
from toys import fall

CAPTION = Caption("there is a red cube")
SMALL = {"word_width": 16, "word_layers": 1, "word_heads": 2, "dim": 16, "lr": 1e-2}


def made(train: Dataset, seed: int = 0, **settings) -> Grounding:
    config = grounding.Config(**SMALL | settings)
    torch.manual_seed(seed)
    system = grounding.build(config, grounding.learn(config, train))
    system.start(train)
    return system


def trained(train: Dataset, steps: int = 80, **settings) -> Grounding:
    system = made(train, **settings)
    examples = system.examples(train)
    order = Order(examples=len(examples), batch_size=40, seed=0)
    adam = system.configure_optimizers()
    for step in range(steps):
        system.train()
        adam.zero_grad()
        system.training_step(examples.batch(order.at(step)), step)["loss"].backward()
        adam.step()
    return system


def test_it_overfits_a_batch(train: Dataset) -> None:
    system = made(train)
    losses = fall(system, system.examples(train).batch(np.arange(0, 40, 2)), 60)
    assert losses[-1] < 0.4 * losses[0]


@pytest.mark.parametrize("negatives", ["none", "random"])
def test_phrases_are_found_without_a_box_to_learn_from(
    train: Dataset, val: Dataset, negatives: str
) -> None:
    system = trained(train, negatives=negatives)
    scores = system.evaluate(val)
    assert scores["random"] == pytest.approx(25)
    assert scores["pointing"] > 90
    assert scores["upper_bound"] == 100
    assert 0.5 < scores["bound"] < np.log(50)
    assert scores["phrases_cube"] + scores["phrases_ball"] + scores["phrases_cone"] == 120
    assert system.validate(val)["r1"] == scores["r1"]


def test_the_bound_alone_needs_no_boxes(train: Dataset, val: Dataset) -> None:
    columns = {name: column for name, column in val.columns.items() if name != "regions"}
    blind = Dataset(columns, ids=val.ids)
    alone = made(train, select="bound")
    alone.check({"val": blind})
    assert set(alone.validate(blind)) == set(alone.evaluate(blind)) == {"bound"}
    with pytest.raises(
        PolymodalError, match="pointing needs boxes, but the split val does not say"
    ):
        made(train).check({"val": blind})


def test_phrases_may_be_told_by_their_content_alone(train: Dataset, val: Dataset) -> None:
    split = made(train).prepared(val)
    tokens = split.phrases.tokens[:3]
    kinds = split.captions.kinds[split.phrases.caption[:3]]
    assert (telling(tokens, kinds, "content").sum(1) == 2).all()  # colour and shape, no article
    assert (telling(tokens, kinds, "all").sum(1) == 3).all()
    assert telling(tokens, torch.zeros_like(kinds), "content").equal(tokens)
    alone = trained(train, phrase="content").evaluate(val)["pointing"]
    assert alone > 90


def other_regions(dataset: Dataset, **changes) -> Dataset:
    """The same pictures with other regions."""
    features = dataset.column("proposal_features")
    new = {"values": features.values, "encoder": features.encoder} | changes
    boxes = dataset.column("proposals").values[:, : new["values"].shape[1]]
    return joined(dataset, boxes, RegionFeatures(**new, statistics=features.statistics))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: {"encoder": {"toy": 1, "encoder": "b"}}, "encoder: None, but b here"),
        (lambda values: {"encoder": {"toy": 1, "geometry": True}}, "geometry: None, but True here"),
        (lambda values: {"values": values[..., :5]}, "width: 7, but 5 here"),
    ],
)
def test_features_of_other_encoders_are_refused(train, val, change, message) -> None:
    other = other_regions(val, **change(val.column("proposal_features").values))
    for use in (made(train).evaluate, lambda split: made(train).ground_record(split, 0, CAPTION)):
        with pytest.raises(PolymodalError, match=message):
            use(other)


def test_the_same_pictures_with_other_regions_are_scored_with_these(train, val) -> None:
    system = made(train)
    assert system.evaluate(val)["upper_bound"] == 100
    fewer = other_regions(val, values=val.column("proposal_features").values[:, :1])
    assert system.evaluate(fewer)["upper_bound"] < 50


def test_negative_captions_need_a_language_model_that_has_learned(train: Dataset) -> None:
    with pytest.raises(PolymodalError, match=r"needs a trained language model\. Train one"):
        made(train, negatives="reranked").examples(train)
    assert made(train).kind_of_negatives == "none"


def test_a_trained_language_model_makes_the_negatives(train: Dataset, val: Dataset) -> None:
    system = made(train, candidates=6, kept=5)
    other = made(train, seed=1, candidates=6, kept=5)
    weights = {f"words.{name}": value for name, value in other.words.state_dict().items()}
    system.take("words", weights, json.loads(json.dumps(system.learned)))  # as a run keeps it
    assert system.kind_of_negatives == "reranked"
    assert not any(p.requires_grad for p in system.words.parameters())
    batch = system.examples(train).batch(np.arange(8))
    assert batch.substitutes.shape[2] == 5
    loss = system.train().training_step(batch, 0)["loss"]
    assert torch.isfinite(loss)
    with pytest.raises(PolymodalError, match="other words or another shape"):
        made(train, word_width=32).take("words", weights, system.learned)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"word_width": 15}, "multiple of word_heads, not 15 of 2"),
        ({"candidates": 5, "kept": 6}, "Of 5 candidates no 6 can be kept"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        grounding.Config(**SMALL | settings)
