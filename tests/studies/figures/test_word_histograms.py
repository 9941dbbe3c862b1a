"""Figures 3 and 7: entropies and correctness against loops, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes.scene_split import Split
from polymodal.studies.figures import figure3, figure7
from polymodal.studies.figures import word_histograms as words
from polymodal.studies.figures.inference import decoded, inferred
from polymodal.studies.figures.pixel_sheet import Sheet
from polymodal.studies.figures.word_histograms import common_relation, entropies, judged
from polymodal.systems.vlvae import judge as judges
from polymodal.systems.vlvae.judge.bag_judge import BagJudge


@pytest.fixture(scope="module")
def marginal(two, vlvae):
    return vlvae(two["train"])


@pytest.fixture(scope="module")
def joint(two, vlvae):
    return vlvae(two["train"], infer_from="both")


@pytest.fixture(scope="module")
def judge(two):
    return a_judge(two["train"])


def a_judge(train, **changes):
    config = replace(judges.Config(width=4, code=8, hidden=8), **changes)
    torch.manual_seed(0)
    return judges.build(config, judges.learn(config, train)).eval()


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(words, "MEASURED", 6)


def test_entropies_of_a_table_by_hand():
    chances = torch.tensor([[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.25, 0.25, 0.5]]])
    found = entropies(chances, relation=2)
    assert {k: v.tolist() for k, v in found.items()} == {
        "first_word": [pytest.approx(math.log(2))],
        "first_object": [pytest.approx(math.log(2))],
        "relation_word": [pytest.approx(1.5 * math.log(2))],
    }
    assert entropies(chances, relation=1)["relation_word"].tolist() == [0.0]


def test_figure7_measures_what_a_loop_does(two, joint, marginal, tmp_path):
    """The decoder is taught the words that it drew, in place of drawing them again."""
    scores = figure7(joint, marginal, two["val"], tmp_path / "a.png")
    for name, system in (("joint", joint), ("marginal", marginal)):
        z = inferred(system, two["val"], shown=2).z
        drawn, _ = system.said(z, torch.Generator().manual_seed(0))
        with torch.no_grad():
            logits = system.model.text_decoder(system.model.code(z), drawn).double()
        each = np.zeros(drawn.shape)
        for i, t in np.ndindex(*drawn.shape):
            p = logits[i, t].softmax(0).numpy()
            each[i, t] = -sum(x * math.log(x) for x in p)
        for key, values in (
            ("first_word", each[:, 0]),
            ("first_object", each[:, :4].sum(1)),
            ("relation_word", each[:, 4]),
        ):
            error = values.std(ddof=1) / math.sqrt(len(values))
            assert scores[f"{name}_{key}"] == pytest.approx(values.mean(), rel=1e-4)
            assert scores[f"{name}_{key}_error"] == pytest.approx(error, rel=1e-3)
    assert len(scores) == 12
    figure7(joint, marginal, two["val"], tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_joint_inference_sees_the_text_that_is_shown(two, joint, marginal):
    """One text an image, the same for both models, and one of the four that are true of it."""
    a, b = (inferred(system, two["val"], shown=2) for system in (joint, marginal))
    assert torch.equal(a.texts, b.texts) and torch.equal(a.images, b.images)
    true = joint.examples(two["val"]).texts
    assert all((true[i] == a.texts[i]).all(-1).any() for i in range(len(true)))
    assert a.images.shape == (2, 3, 16, 16)


def test_correctness_is_the_share_of_words_that_the_judge_reads(two, judge, marginal):
    found = decoded(marginal, torch.randn(6, 3, generator=torch.Generator().manual_seed(1)))
    read, agreeing = judged(judge, found)
    shares = [
        100 * np.mean([found.texts[i, t] == read[i, t] for t in range(9) if t != 4])
        for i in range(6)
    ]
    assert 0 < np.mean(shares) < 100
    assert agreeing.value == pytest.approx(np.mean(shares))
    assert agreeing.error == pytest.approx(np.std(shares, ddof=1) / math.sqrt(6))


def test_figure3_measures_and_draws_every_block(two, judge, marginal, tmp_path, monkeypatch):
    said, spell = [], Sheet.spell

    def listen(self, lines, *place, **how):
        said.append([word for line in lines for word in line])
        spell(self, lines, *place, **how)

    monkeypatch.setattr(Sheet, "spell", listen)
    scores = figure3(marginal, judge, two, tmp_path / "a.png")
    blocks = ("train", "val", "prior", "aggregate_prior")
    names = {f"{b}_correctness{e}" for b in blocks for e in ("", "_error")}
    assert set(scores) == names | {"judge_least_accuracy"}
    assert scores["judge_least_accuracy"] == judge.evaluate(two["val"])["least_accuracy"]
    read = [line for line in said if line[0].text == "judge:"]
    assert len(read) == 2 * len(blocks) and len(said) == len(read) + 4
    given = inferred(marginal, two["val"], shown=2, most=6)
    found = decoded(marginal, given.z)
    seen, _ = judge.read(found.images, found.texts)
    marks = [[word.marked for word in line[1:]] for line in read[2:4]]
    assert marks == (seen != found.texts)[:2].tolist()
    figure3(marginal, judge, two, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_without_a_learned_prior_there_are_samples_of_the_normal_one(two, judge, vlvae, tmp_path):
    system = vlvae(two["train"], densities=("aggregate",))
    scores = figure3(system, judge, two, tmp_path / "a.png")
    assert "prior_correctness" in scores and "aggregate_prior_correctness" not in scores


def test_one_image_is_enough_to_draw(two, joint, marginal, tmp_path):
    val = two["val"]
    single = Split(val.world, val.name, val.items[:1], val.source)
    scores = figure7(joint, marginal, single, tmp_path / "a.png")
    assert len(scores) == 6  # one image has no deviation


def test_judges_that_do_not_fit_are_refused(one, two, marginal, tmp_path):
    bag = a_judge(two["train"], words="bag")
    assert isinstance(bag, BagJudge)
    with pytest.raises(
        PolymodalError, match=r"reads a bag of words\. Train one with --words places"
    ):
        figure3(marginal, bag, two, tmp_path / "a.png")
    with pytest.raises(PolymodalError, match="other words than the model says"):
        figure3(marginal, a_judge(one["val"]), two, tmp_path / "a.png")


def test_models_that_infer_from_something_else_are_refused(two, joint, marginal, tmp_path):
    with pytest.raises(
        PolymodalError, match=r"infers from image\. Train it with --infer-from both"
    ):
        figure7(marginal, joint, two["val"], tmp_path / "a.png")
    with pytest.raises(
        PolymodalError, match=r"infers from both\. Train it with --infer-from image"
    ):
        figure7(joint, joint, two["val"], tmp_path / "a.png")


def test_an_empty_split_is_refused(joint, marginal, empty, tmp_path):
    with pytest.raises(PolymodalError, match="The split is empty: it has no image to show"):
        figure7(joint, marginal, empty, tmp_path / "a.png")


def test_texts_without_a_relation_are_refused(one, vlvae, tmp_path):
    joint, marginal = (vlvae(one["val"], infer_from=sees) for sees in ("both", "image"))
    with pytest.raises(PolymodalError, match=r"as two-objects has; the split has '(small|large) "):
        figure7(joint, marginal, one["val"], tmp_path / "a.png")
    with pytest.raises(PolymodalError, match="at the same place in each"):
        common_relation([["cube", "left"], ["left", "cube"]])
    with pytest.raises(PolymodalError, match="name an object and then a relation"):
        common_relation([["left", "cube"]])
