"""Gaussian retrieval: every row of the paper's table learns, and its Gaussians are as it says."""

import dataclasses
import math

import pytest
import torch
from sklearn.metrics import roc_auc_score

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import open_folder
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import measure, ranks
from polymodal.systems.retrieval.gaussian import MEASURES, Config, build, learn
from toys import fall

TINY = Config(embed_dim=24, hidden=32, word_dim=16, word_scale=1.0, convnet_width=8, lr=3e-3)

PAPER = [
    (model, similarity, covariance)
    for model, similarity in (("GCE", "mahalanobis"), ("GIE", "mahalanobis"), ("GCIE", "kl"),
                              ("GCIE", "min_kl"), ("GCIE", "wasserstein"))
    for covariance in ("spherical", "ellipsoidal")
]  # fmt: skip
"""The ten Gaussian rows of Tables 1 and 2."""

BEYOND = [("GCIE", name, "ellipsoidal") for name in ("squared_wasserstein", "csd", "bhattacharyya")]


@pytest.fixture(scope="module")
def splits(squares):
    return open_folder(squares, size=32, progress=False)


def tiny(splits, **changes):
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, **changes)
    return build(config, learn(config, splits["train"]))


def descend(system, splits, steps=120):
    """Plain Adam on one batch of sixteen pairs: the loss of each step."""
    batch = system.examples(splits["train"]).batch(torch.arange(0, 32, 2).numpy())
    return fall(system, batch, steps)


@pytest.mark.parametrize(("model", "similarity", "covariance"), PAPER + BEYOND)
def test_every_row_overfits_one_batch(splits, model, similarity, covariance):
    system = tiny(
        splits, model=model, similarity=similarity, covariance=covariance, negatives="sum"
    )
    losses = descend(system, splits, 40)
    assert losses[-1] < 0.2 * losses[0]


PCME = {
    "similarity": "csd", "loss": "sigmoid", "scale": 5.0, "learn_scale": True, "bias": 5.0,
    "pseudo_positives": 0.1, "vib": 1e-4, "low": 1e-4, "log_var_start": -5.0, "unit": False,
}  # fmt: skip
"""PCME++ on our heads: variances that begin small beside the distance of means."""


def test_pcme_overfits_one_batch(splits):
    system = tiny(splits, **PCME)
    losses = descend(system, splits, 240)
    assert losses[0] > 5
    assert losses[-1] < 0.2
    assert system.loss.bias.item() != 5.0


@pytest.mark.parametrize(("similarity", "scale"), [("wasserstein", 10.0), ("kl", 1.0)])
def test_infonce_overfits_one_batch(splits, similarity, scale):
    system = tiny(splits, similarity=similarity, loss="infonce", scale=scale, learn_scale=True)
    losses = descend(system, splits)
    assert losses[-1] < 0.1 * math.log(16)


def test_the_divergence_from_the_standard_gaussian_is_added(splits):
    batch = tiny(splits).examples(splits["train"]).batch(torch.arange(8).numpy())
    plain, held = (tiny(splits, vib=vib) for vib in (0.0, 0.5))
    images, captions = plain.embed_images(batch.images), plain.captions(batch.tokens, batch.lengths)
    zero = torch.zeros_like(images.mean)
    kl = [side.kl(DiagonalGaussian(zero, zero)).sum() / 24 for side in (images, captions)]
    expected = plain.training_step(batch, 0)["loss"] + 0.5 * sum(kl)
    torch.testing.assert_close(held.training_step(batch, 0)["loss"], expected)


def test_beside_the_sigmoid_the_divergence_weighs_as_in_pcme(splits):
    """PCME++ takes twice the mean over all b² pairs, and β times the mean divergence of each side."""
    how = {"similarity": "csd", "loss": "sigmoid", "scale": 5.0, "bias": 5.0}
    batch = tiny(splits, **how).examples(splits["train"]).batch(torch.arange(8).numpy())
    plain, held = (tiny(splits, vib=vib, **how) for vib in (0.0, 0.5))
    images, captions = plain.embed_images(batch.images), plain.captions(batch.tokens, batch.lengths)
    zero = torch.zeros_like(images.mean)
    means = [side.kl(DiagonalGaussian(zero, zero)).mean() / 24 for side in (images, captions)]
    theirs = 2 * plain.training_step(batch, 0)["loss"] / 8**2 + 0.5 * sum(means)
    torch.testing.assert_close(2 * held.training_step(batch, 0)["loss"] / 8**2, theirs)


def test_only_gaussian_sides_diverge(splits):
    """GCE's images are points, which have no divergence."""
    system = tiny(splits, model="GCE", similarity="mahalanobis", vib=1.0)
    batch = system.examples(splits["train"]).batch(torch.arange(8).numpy())
    assert system.training_step(batch, 0)["loss"].isfinite()


@pytest.mark.parametrize(("model", "similarity", "covariance"), PAPER)
def test_sides_are_what_the_paper_says(splits, model, similarity, covariance):
    system = tiny(splits, model=model, similarity=similarity, covariance=covariance)
    images = system.encode_dataset(splits["test"])
    captions = system.encode_texts(["a red square at the left", "something blue"])
    assert isinstance(images, DiagonalGaussian) == (model != "GCE")
    assert isinstance(captions, DiagonalGaussian) == (model != "GIE")
    for side in (images, captions):
        means = side.mean if isinstance(side, DiagonalGaussian) else side
        torch.testing.assert_close(means.norm(dim=-1), torch.ones(len(means)))
        if isinstance(side, DiagonalGaussian):
            assert side.var.min() >= 0.1 - 1e-6
            assert side.var.max() <= 10 + 1e-5
            alike = torch.allclose(side.log_var, side.log_var[:, :1].expand_as(side.log_var))
            assert alike == (covariance == "spherical")


def test_captions_have_two_encoders_and_images_one(splits):
    """001, eq. 4–5 against eq. 7–8: no shared parameters there, one encoding here."""
    system = tiny(splits)
    mine = {id(p) for p in system.captions.encoder.parameters()}
    other = {id(p) for p in system.captions.spread.parameters()}
    assert mine
    assert len(mine) == len(other)
    assert not mine & other
    assert system.images.spread is None


def test_scores_are_those_of_the_measure(splits):
    system = tiny(splits, similarity="kl")
    images, captions = system.encode_dataset(splits["test"]), system.encode_texts(["something red"])
    expected = [-images[i : i + 1].kl(captions).item() for i in range(len(images))]
    found = measure("kl")(images, captions)[:, 0]
    torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-4, atol=1e-4)


def test_free_means_and_smooth_bounds(splits):
    system = tiny(splits, unit=False, bound="squash", low=0.5, high=2.0, log_var_start=0.0)
    images = system.encode_dataset(splits["test"])
    assert (images.mean.norm(dim=-1) - 1).abs().max() > 0.01
    assert images.log_var.abs().max() < math.log(2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "GCE"}, "GCE cannot be compared by 'wasserstein', but by mahalanobis"),
        ({"similarity": "cosine"}, "GCIE cannot be compared by 'cosine', but by kl, min_kl"),
        ({"low": 2.0, "high": 1.0}, "0 < low < high"),
    ],
)
def test_what_cannot_be(changes, message):
    with pytest.raises(PolymodalError, match=message):
        dataclasses.replace(TINY, **changes)


def test_every_model_has_a_measure():
    assert {similarity for _, similarity, _ in PAPER + BEYOND} == {
        name for names in MEASURES.values() for name in names
    }


def test_evaluation_says_how_much_entropy_tells(splits):
    """The AUROC of an evaluation is scikit-learn's on the entropies that encoding gives."""
    system = tiny(splits, similarity="kl", log_var_scale=1.0)
    val = splits["val"]
    texts = [caption.text for i in range(len(val)) for caption in val.captions(i)]
    owner = torch.arange(len(val)).repeat_interleave(2)
    images, captions = system.encode_dataset(val), system.encode_texts(texts)
    _, t2i = ranks(measure("kl"), images, captions, owner)
    scores = system.evaluate(val)
    expected = roc_auc_score((t2i > 0).numpy(), captions.entropy().numpy())
    assert scores["caption_error_auroc"] == pytest.approx(expected)
    assert 0 <= scores["image_at_low"] + scores["image_at_high"] <= 1
    assert "i2t_hubness" in scores


def test_points_have_no_entropy(splits):
    scores = tiny(splits, model="GCE", similarity="mahalanobis").evaluate(splits["val"])
    assert not [name for name in scores if name.startswith("image_")]
    assert [name for name in scores if name.startswith("caption_")]


def test_stuck_variances_are_named(splits):
    system = tiny(splits, log_var_start=-9.0, log_var_scale=0.01)
    symptoms = system.symptoms(system.evaluate(splits["val"]))
    assert any("sit at their lower bound" in symptom for symptom in symptoms)
