"""The language model of captions: it learns, goes on, reads no picture, and serves as a source."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import polymodal
from backbones import write_model
from polymodal import systems
from polymodal.base.errors import PolymodalError
from polymodal.base.files import sha256, write_json
from polymodal.base.hashed_files import HASHES
from polymodal.data.columns import Captions, Read
from polymodal.data.records import Caption, Dataset
from polymodal.nn.language_models import LanguageModel, describe_language_model
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.systems.grounding import mlm
from polymodal.training.training_config import Training
from toys import fall

TEXTS = ["a red cube.", "one blue sphere", "two green balls", "some small purple cylinders"]
SMALL = {"width": 16, "layers": 1, "heads": 2}


def unseen(*rows, **options):
    raise AssertionError("a picture was looked at")


def dataset(texts=TEXTS, each=2):
    """Captions of pictures that nobody may look at."""
    said = [tuple(map(Caption, texts[k : k + each])) for k in range(0, len(texts), each)]
    images = Read(len(said), unseen)
    return Dataset({"image": images, "captions": Captions.of(said)}, fingerprint="toy")


def built(train=None, **settings):
    config = mlm.Config(**SMALL | settings)
    torch.manual_seed(0)
    system = mlm.build(config, mlm.learn(config, train or dataset()))
    system.start(train or dataset())
    return system


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    path = tmp_path_factory.mktemp("said") / "said.txt"
    path.write_text("\n".join(f"{k}\t{text}" for k in range(20) for text in TEXTS))
    return f"text:{path}"


def trained(data, run, steps=4, **settings):
    often = {"val_every": steps // 2, "checkpoint_every": steps // 4, "log_every": steps}
    training = Training(max_steps=steps, batch_size=8, accelerator="cpu", **often)
    return jobs.train("mlm", mlm.Config(**SMALL | settings), training, data=data, run=run)


@pytest.fixture(scope="module")
def run(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "words"
    trained(sentences, folder, steps=160, lr=0.005, width=64)
    return folder


def test_it_is_a_system_of_its_own():
    assert systems.named("mlm") is mlm
    assert systems.summaries()["mlm"].startswith("A masked language model of captions")


def test_it_overfits_a_batch_without_a_look_at_pictures():
    system = built(lr=0.003, width=64)
    examples = system.examples(dataset())
    assert len(examples) == 4
    batch = examples.batch(np.arange(4))
    losses = fall(system, batch, 200)
    assert np.mean(losses[:5]) > 2
    assert np.mean(losses[-20:]) < 0.5


def test_a_batch_is_as_wide_as_its_longest_caption():
    examples = built().examples(dataset())
    assert examples.batch(np.array([0, 1])).tokens.shape == (2, 6)
    assert examples.batch(np.array([1])).tokens.shape == (1, 5)


def test_the_loss_is_that_of_hidden_words_alone():
    system = built(masked=0.5)
    batch = system.examples(dataset()).batch(np.arange(4))
    system.eval()
    torch.manual_seed(3)
    found = system.training_step(batch, 0)["loss"]
    torch.manual_seed(3)
    hidden = mlm.hide(batch.tokens, system.ordinary, mask=4, share=0.5)
    chances = system.words.logits(hidden.tokens, batch.lengths).log_softmax(-1)
    own = [
        -chances[row, place, batch.tokens[row, place]]
        for row, place in hidden.places.nonzero().tolist()
    ]
    torch.testing.assert_close(found, torch.stack(own).mean())


def test_validation_hides_the_same_words_each_time(monkeypatch):
    system = built()
    first = system.validate(dataset())
    torch.manual_seed(9)
    assert system.validate(dataset()) == system.evaluate(dataset()) == first
    assert first["perplexity"] == pytest.approx(np.exp(first["cross_entropy"]))
    assert 0 <= first["accuracy"] <= 100
    assert first["commonest"] == pytest.approx(100 / 4)  # of four hidden words none is there twice


def test_the_vocabulary_is_that_of_the_training_captions():
    names = built().reader.names
    assert len(names) == 5 + 14
    assert "purple" in names and "." in names
    assert built(train=dataset(["a dog", "a cat"])).reader.names[5:] == ["a", "cat", "dog"]


def test_a_run_is_selected_by_low_cross_entropy_and_tells_words(run):
    metrics = Run(run).metrics
    scores = [point["cross_entropy"] for point in metrics["curves"] if "cross_entropy" in point]
    assert metrics["selected"]["cross_entropy"] == min(scores) < 2.5
    assert metrics["protocol"]["selection"] == "lowest cross_entropy on val"
    assert metrics["scores"]["test"]["accuracy"] > 50
    system = polymodal.load(run)
    (best, chance), *others = system.fill("a [MASK] cube.", first=4)
    assert best == "red"
    assert chance > 0.5
    assert len(others) == 3
    assert all(first >= then for (_, first), (_, then) in pairwise(others))
    with pytest.raises(PolymodalError, match=r"one \[MASK\], such as .* not 'a cube'"):
        system.fill("a cube")
    with pytest.raises(PolymodalError, match=r"first must be 1 or more, not -1"):
        system.fill("a [MASK] cube.", first=-1)


def test_a_run_is_a_source(run, sentences, tmp_path):
    words = LanguageModel(describe_language_model(str(run)))
    words.load_pretrained()
    own = {k: v for k, v in Run(run).weights().items() if k.startswith("words.")}
    assert own.keys() == Run(run).weights().keys()  # which --parts takes as they are
    assert all(torch.equal(own[f"words.{k}"], v) for k, v in words.state_dict().items())
    config = mlm.Config(source=str(run))
    assert mlm.learn(config, dataset())["words"]["source"] == str(run)


@pytest.mark.parametrize(
    ("change", "own_hash", "message"),
    [
        (lambda x: x + 1, False, r"model.safetensors is damaged, or not of this run: its SHA-256"),
        (lambda x: x * torch.nan, True, r"model.safetensors are not finite: the training diverged"),
        (lambda x: x[:1].clone(), True, r"weights of .* are not those .* learned.json describes"),
    ],
)
def test_damaged_weights_are_no_source(run, tmp_path, change, own_hash, message):
    copy = shutil.copytree(run, tmp_path / "copy")
    path = copy / "model.safetensors"
    save_file({name: change(value) for name, value in load_file(path).items()}, path)
    if own_hash:
        known = {name: [sha256(copy / name)] for name in ("model.safetensors", "learned.json")}
        write_json(copy / HASHES, {"sha256": known})
    words = LanguageModel(describe_language_model(str(copy)))
    with pytest.raises(PolymodalError, match=message):
        words.load_pretrained()


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "learned.json is damaged"), ("{}", "learned.json is damaged, or not of this run")],
)
def test_a_damaged_description_is_no_source(run, tmp_path, content, message):
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / "learned.json").write_text(content)
    with pytest.raises(PolymodalError, match=message):
        describe_language_model(str(copy))


@pytest.mark.parametrize("kind", ["bert", "masked-bert"])
def test_a_transformers_model_is_tuned_with_its_head_or_a_fresh_one(kind, tmp_path):
    source = str(write_model(tmp_path / kind, kind))
    data = dataset(["a red square at the left", "something blue", "a green square", "the top"])
    config = mlm.Config(source=source)
    system = mlm.build(config, mlm.learn(config, data))
    system.start(data)
    assert system.words.description["head"] == ("own" if kind == "masked-bert" else "fresh")
    before = {k: v.clone() for k, v in system.state_dict().items()}
    fall(system, system.examples(data).batch(np.arange(4)), 2)
    moved = {k for k, v in system.state_dict().items() if not torch.equal(v, before[k])}
    assert {
        "words.model.cls.predictions.bias",
        "words.model.bert.embeddings.LayerNorm.bias",
    } <= moved
    assert system.fill("a red [MASK]", first=3)


def test_a_run_that_was_killed_ends_with_the_same_weights(sentences, tmp_path, monkeypatch):
    trained(sentences, tmp_path / "whole")
    step = mlm.CaptionModel.training_step

    def killed(self, batch, batch_idx):
        if self.global_step == 3:
            raise RuntimeError("killed")
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(mlm.CaptionModel, "training_step", killed)
        with pytest.raises(RuntimeError, match="killed"):
            trained(sentences, tmp_path / "cut")
    trained(sentences, tmp_path / "cut")
    whole, cut = (Run(tmp_path / name).weights() for name in ("whole", "cut"))
    assert all(torch.equal(whole[name], cut[name]) for name in whole)


def test_a_world_is_not_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr("polymodal.data.drawn.scenes.open_world", unseen)
    spec = "scenes,size=16,train=3,val=2,test=1"
    assert len(jobs.open_data(spec, system="mlm")["train"]) == 3
    with pytest.raises(AssertionError, match="a picture was looked at"):
        jobs.open_data(spec, system="vse")
    with pytest.raises(PolymodalError, match="mlm reads captions alone, not features"):
        jobs.open_data(spec, system="mlm", features=tmp_path)


def test_a_model_without_context_is_named():
    system = built()
    assert "reads no context" in system.symptoms({"accuracy": 20.5, "commonest": 20.0})[0]
    assert system.symptoms({"accuracy": 22.0, "commonest": 20.0}) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width must be above 0, not 0"),
        ({"lr": float("nan")}, "lr must be above 0, not nan"),
        ({"masked": 1.0}, "masked is a share between 0 and 1, not 1.0"),
        ({"source": "a/b", "layers": 2}, "layers is a setting of the small model, but .* a/b"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(PolymodalError, match=message):
        mlm.Config(**settings)
