"""Findings from images, trained beside reports: it learns, and each part does what it says."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.data.batch_order import Order
from polymodal.data.columns import Each, Stored
from polymodal.data.records import Dataset
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.runs import jobs
from polymodal.systems.medical import findings
from polymodal.systems.medical.report_examples import report_examples, reports_of
from polymodal.training.training_config import Training
from toys import fall
from xrays import FINDINGS, xray_splits, xrays

SMALL = {
    "convnet_width": 8,
    "text_width": 16,
    "text_blocks": 1,
    "word_dim": 8,
    "embed_dim": 16,
    "critic_hidden": 16,
    "lr": 3e-3,
}


def made(train: Dataset, **settings):
    config = findings.Config(**SMALL | settings)
    torch.manual_seed(0)
    system = findings.build(config, findings.learn(config, train))
    system.start(train)
    return system


def trained(train: Dataset, steps: int = 40, **settings):
    system = made(train, **settings)
    examples = system.examples(train)
    order = Order(examples=len(examples), batch_size=16, seed=0)
    adam = system.configure_optimizers()
    for step in range(steps):
        system.train()
        system.clock.step = step
        adam.zero_grad()
        system.training_step(examples.batch(order.at(step)), step)["loss"].backward()
        adam.step()
    return system


def test_it_overfits_a_batch() -> None:
    train = xrays(16)
    system = made(train, lambda_ll=0.0, lambda_lg=0.0)
    losses = fall(system, system.examples(train).batch(np.arange(16)), 40)
    assert losses[-1] < 0.3 * losses[0]


def test_findings_are_told_by_image_by_report_and_by_both() -> None:
    train = xrays(80)
    system = trained(train)
    test = xrays(60, seed=1)
    scores = system.evaluate(test)
    for name in ("image", "text", "image+text"):
        assert scores[f"auc_{name}"] > 90
        assert scores[f"auc_{name}_low"] <= scores[f"auc_{name}"] <= scores[f"auc_{name}_high"]
        each = [scores[f"auc_{name}_finding{k}"] for k in range(2)]
        assert scores[f"auc_{name}"] == pytest.approx(np.mean(each))
        assert scores[f"items_{name}"] == 60
    assert scores["count_finding0"] == test.columns["targets"].values[:, 0].sum()
    assert 0 < scores["bound_ll"] < math.log(4)
    assert system.evaluate(test)["bound_lg"] == scores["bound_lg"]
    assert not system.symptoms({"bound_ll": 1.2})
    (told,) = system.symptoms({"bound_ll": 1.3})
    assert told.startswith("The local–local bound is saturated: 1.30 of at most 1.39 nats")
    assert "more negatives (--others)" in told
    assert set(system.validate(test)) == {
        "auc_image", "auc_image_finding0", "auc_image_finding1", "items_image",
    }  # fmt: skip
    (found,) = system.classify([test[0].image])
    with torch.no_grad():
        seen = system.see(system.examples(test).batch(np.arange(1)))
        logits = system.heads["image"](seen.whole["image"])
    assert list(found.values()) == pytest.approx(logits[0].sigmoid().tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("weights", "kinds"),
    [((0.0, 0.0, 0.0), set()), ((0.5, 0.0, 0.0), {"ll"}), ((0.0, 0.5, 0.0), {"lg"}),
     ((0.5, 0.5, 0.0), {"ll", "lg"}), ((0.0, 0.0, 0.5), {"gg"})],
)  # fmt: skip
def test_the_loss_is_that_of_the_thesis_mended(weights: tuple, kinds: set) -> None:
    """λ_C L_classif − λ_ll I_ll − λ_lg I_lg − λ_gg I_gg (eq. 8.3.5), each bound with its own weight."""
    train = xrays(16)
    ll, lg, gg = weights
    system = made(train, lambda_ll=ll, lambda_lg=lg, lambda_gg=gg, class_weight=2.0, crop=1.0)
    batch = system.examples(train).batch(np.arange(16))
    torch.manual_seed(1)
    loss = system.training_step(batch, 0)["loss"]
    seen = system.see(batch)
    torch.manual_seed(1)
    bounds = system.bounds(seen, batch)
    assert set(bounds) == kinds
    expected = 2 * system.class_loss(seen, batch)
    for kind, weight in zip(("ll", "lg", "gg"), weights, strict=True):
        expected = expected - weight * bounds.get(kind, torch.tensor(0.0))
    torch.testing.assert_close(loss, expected)


def test_the_class_loss_is_a_plain_sum_and_may_be_balanced() -> None:
    train = xrays(16, lacking=4)
    for balance in (False, True):
        system = made(train, balance=balance)
        batch = system.examples(train).batch(np.arange(16))
        seen = system.see(batch)
        found = system.class_loss(seen, batch).item()
        losses = []
        for name in ("image", "text"):
            terms = []
            for item in range(16):
                if name == "text" and item % 4 == 0:
                    continue
                logits = system.heads[name](seen.whole[name][item]).tolist()
                own = []
                for k, logit in enumerate(logits):
                    p = 1 / (1 + math.exp(-logit))
                    true = batch.targets[item, k].item()
                    rate = train.columns["targets"].values[:, k].mean()
                    weight = (1 - rate) / rate if balance else 1.0
                    own.append(-weight * true * math.log(p) - (1 - true) * math.log(1 - p))
                terms.append(sum(own) / 2)
            losses.append(sum(terms) / len(terms))
        assert found == pytest.approx(sum(losses) / 2, rel=1e-5)


def test_what_is_missing_takes_no_part() -> None:
    train = xrays(16, lacking=3)
    system = made(train, lambda_ll=0.5, lambda_lg=0.5, lambda_gg=0.5)
    batch = system.examples(train).batch(np.arange(16))
    assert batch.text_present.tolist() == [item % 3 != 0 for item in range(16)]
    found = []
    for other in (1, 5):
        tokens = batch.tokens.clone()
        tokens[~batch.text_present] = other
        torch.manual_seed(1)
        changed = type(batch)(**vars(batch) | {"tokens": tokens})
        found.append(system.training_step(changed, 0)["loss"])
    torch.testing.assert_close(*found)
    scores = system.evaluate(train)
    assert (scores["items_image"], scores["items_text"], scores["items_image+text"]) == (16, 10, 10)


def test_words_behind_the_end_of_a_report_change_nothing() -> None:
    train = xrays(8)
    system = made(train).eval()
    short, long = system.vocabulary.encode_batch(["heart normal", "the heart is normal there"])
    both = system.text(short, long)
    alone = system.text(short[:1, : long[0]], long[:1])
    torch.testing.assert_close(both[:1, :, : long[0]], alone)
    assert both[0, :, long[0] :].eq(0).all()
    (tokens, lengths) = (short.clone(), long)
    tokens[0, long[0] :] = 6
    torch.testing.assert_close(system.text(tokens, lengths), both)


def test_long_reports_are_cut_and_empty_ones_are_missing() -> None:
    train = xrays(4)
    texts = Each.of(["", "   ", None, "the heart is normal " * 50])
    data = Dataset({**train.columns, "text": texts})
    system = made(data, most_words=20)
    assert reports_of(data)[:3] == ["", "", ""]
    batch = report_examples(data, system.vocabulary, 20).batch(np.arange(4))
    assert batch.text_present.tolist() == [False, False, False, True]
    assert batch.lengths.tolist() == [2, 2, 2, 20]


def test_how_far_chances_are_off_is_measured() -> None:
    """The expected calibration error of each finding by a plain loop over ten bins, in float64."""
    data = xrays(60, seed=1)
    system = made(data)
    scores = system.evaluate(data)
    chances = [list(one.values()) for one in system.classify([record.image for record in data])]
    errors = []
    for k, name in enumerate(system.findings):
        sums: dict[int, list[float]] = {}
        for own, target in zip(chances, data.columns["targets"].values, strict=True):
            place = max(math.ceil(own[k] * 10) - 1, 0)
            sums.setdefault(place, []).append(own[k] - float(target[k] > 0.5))
        errors.append(100 * sum(abs(sum(gaps)) for gaps in sums.values()) / 60)
        assert scores[f"ece_image_{name}"] == pytest.approx(errors[-1], abs=1e-3)
    assert scores["ece_image"] == pytest.approx(np.mean(errors), abs=1e-3)
    assert "ece_image" not in system.validate(data)


@pytest.mark.parametrize("kind", ["efficientnet-lite0", "resnet"])
def test_findings_by_a_pretrained_image_encoder(tmp_path: Path, kind: str) -> None:
    """Its weights are taken, all learn but the moments of its batch norms, and it classifies."""
    name = kind if kind == "efficientnet-lite0" else str(write_resnet(tmp_path / "resnet"))
    train = xrays(6)
    system = made(train, image_encoder=name, crop=1.0)
    system.train()
    net = system.image.net[0]
    if kind == "efficientnet-lite0":
        known = EfficientNetLite0.pretrained()
        theirs, ours = known.state_dict(), net.state_dict()
    else:
        from transformers import ResNetModel

        theirs, ours = ResNetModel.from_pretrained(name).state_dict(), net.model.state_dict()
    assert all(torch.equal(ours[part], value) for part, value in theirs.items())
    before = {part: value.clone() for part, value in net.state_dict().items()}
    batch = system.examples(train).batch(np.arange(6))
    adam = system.configure_optimizers()
    system.training_step(batch, 0)["loss"].backward()
    adam.step()
    after = net.state_dict()
    moved = {part for part, value in before.items() if not torch.equal(after[part], value)}
    assert moved
    assert not any("running" in part for part in moved)
    (found,) = system.classify([train[0].image])
    assert all(0 < chance < 1 for chance in found.values())


def write_resnet(folder: Path) -> Path:
    """A tiny ResNet of transformers on disk, its weights drawn at random."""
    import transformers as t

    torch.manual_seed(3)
    config = t.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"
    )
    t.ResNetModel(config).save_pretrained(folder)
    scaling = {"image_mean": [0.5] * 3, "image_std": [0.25] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(scaling))
    return folder


def test_images_alone_are_a_baseline_that_reads_nothing() -> None:
    train = xrays(16)
    alone = Dataset({name: own for name, own in train.columns.items() if name != "text"})
    system = made(alone, reads="image")
    batch = system.examples(alone).batch(np.arange(8))
    assert torch.isfinite(system.training_step(batch, 0)["loss"])
    assert not hasattr(system, "text")
    assert {name for name in system.evaluate(alone) if name.startswith("items")} == {"items_image"}


def test_word_vectors_of_a_file_stay_as_they_are(tmp_path: Path) -> None:
    train = xrays(16)
    file = tmp_path / "glove.txt"
    file.write_text("heart 1 2 3\nnormal -1 0 0.5\nother 9 9 9\n")
    system = made(train, words=str(file))
    vectors = system.text.embed.weight
    assert vectors.shape[1] == 3
    place = system.vocabulary.words.index("heart")
    assert vectors[place].tolist() == [1, 2, 3]
    assert vectors[system.vocabulary.words.index("nodule")].tolist() == [0, 0, 0]
    batch = system.examples(train).batch(np.arange(16))
    system.training_step(batch, 0)["loss"].backward()
    assert vectors.grad is None
    moving = made(train, words=str(file), finetune_words=True)
    moving.training_step(batch, 0)["loss"].backward()
    assert moving.text.embed.weight.grad.abs().sum() > 0
    assert made(train).text.embed.weight.requires_grad


def test_findings_have_the_names_that_the_data_give_them() -> None:
    @dataclass(frozen=True, eq=False)
    class Named(Stored):
        classes: tuple[str, ...] = ()

    train = xrays(16)
    targets = Named(train.columns["targets"].values, classes=("big heart", FINDINGS[1]))
    data = Dataset({**train.columns, "targets": targets})
    assert made(data).findings == ["big-heart", "effusion"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": "joint"}, "A word of a report is at no place of the image"),
        ({"elsewhere": 2}, "A word of a report is at no place of the image"),
        ({"finetune_words": True}, "--finetune-words is about word vectors of a file"),
        ({"teachers": ("mri",)}, "--teachers names 'mri', but the modalities are image, text"),
        ({"words": "nowhere.txt"}, r"no file of word vectors at nowhere\.txt"),
        ({"crop": 1.5}, "crop is a share of the side"),
        ({"image_encoder": "resnet"}, "Unknown image encoder 'resnet'"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        made(xrays(8), **settings)


def test_data_that_cannot_be_are_refused() -> None:
    train = xrays(16)
    system = made(train)
    with pytest.raises(PolymodalError, match="tells 2 findings, but these data have 3"):
        other = Stored(np.zeros((16, 3), np.float32))
        system.check({"val": Dataset({**train.columns, "targets": other})})
    with pytest.raises(PolymodalError, match="takes pictures of 32×32, but the data are 40×40"):
        wide = Stored(np.zeros((16, 40, 40, 3), np.uint8))
        system.evaluate(Dataset({**train.columns, "image": wide}))
    with pytest.raises(PolymodalError, match="no AUC can select the weights"):
        nothing = Stored(np.zeros((16, 2), np.float32))
        system.validate(Dataset({**train.columns, "targets": nothing}))
    with pytest.raises(PolymodalError, match="does not hold rows of numbers"):
        made(Dataset({**train.columns, "targets": Each.of([None] * 16)}))
    with pytest.raises(PolymodalError, match="Give a list of pictures"):
        system.classify("xray.png")
    with pytest.raises(PolymodalError, match=r"needs the column 'text'"):
        made(Dataset({name: own for name, own in train.columns.items() if name != "text"}))


def test_a_run_is_trained_scored_and_loaded_again(tmp_path: Path) -> None:
    def opening(data, **how):
        return xray_splits(count=50, lacking=5)

    training = Training(accelerator="cpu", max_steps=6, batch_size=8, val_every=3)
    config = findings.Config(**SMALL)
    metrics = jobs.train(
        "findings", config, training, data="xrays", run=tmp_path / "a", opening=opening
    )
    assert {"auc_image", "auc_text_low", "count_finding1"} <= metrics["scores"]["test"].keys()
    again = jobs.evaluate(tmp_path / "a", opening=opening)
    assert again["scores"]["test"] == metrics["scores"]["test"]
    model = polymodal.load(tmp_path / "a")
    assert set(model.classify([xrays(2)[0].image])[0]) == {"finding0", "finding1"}
