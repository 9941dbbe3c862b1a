"""Runs as systems again, and as the start of others."""

import json
import shutil

import pytest
import torch
from safetensors.torch import save_file

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.data.sources import open_splits
from polymodal.runs import jobs
from polymodal.runs.index_building import index_run
from polymodal.runs.run_folder import Run
from polymodal.runs.shipping import ship
from toys import train_squares, write_backbone, write_squares


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder)
    return folder


def weights(folder) -> dict[str, torch.Tensor]:
    return Run(folder).weights()


def test_a_run_scores_again_what_it_scored(run, squares):
    system = polymodal.load(run)
    assert not system.training
    test = open_splits(f"folder:{squares},size=32")["test"]
    assert system.evaluate(test) == Run(run).metrics["scores"]["test"]


def test_the_best_weights_are_loaded_not_the_last(squares, tmp_path, monkeypatch):
    from polymodal.systems.retrieval import Retrieval

    kept = []
    scores = iter([5.0, 9.0, 7.0])

    def evaluate(self, dataset):
        texts = self.encode_texts(["something red"])
        kept.append(texts)
        return {"rsum": next(scores, 0.0)}

    monkeypatch.setattr(Retrieval, "evaluate", evaluate)
    monkeypatch.setattr(Retrieval, "validate", evaluate)
    train_squares(squares, tmp_path, val_every=1)
    found = polymodal.load(str(tmp_path)).encode_texts(["something red"])
    assert torch.equal(found, kept[1])
    assert not torch.equal(found, kept[2])


USES = {
    "load": lambda run, folder: polymodal.load(run),
    "evaluate": lambda run, folder: jobs.evaluate(run),
    "index": lambda run, folder: index_run(run, folder / "index"),
    "ship": lambda run, folder: ship(run, "a", limits="None.", into=folder),
    "init": lambda run, folder: train_squares(
        folder, folder / "b", init=run, data=Run(run).config["data"]
    ),
}


@pytest.mark.parametrize("use", USES)
def test_weights_that_are_not_finite_are_of_no_use(run, tmp_path, use):
    """As an earlier version kept them, without a hash."""
    shutil.copytree(run, tmp_path / "run")
    found = weights(run)
    found["captions.head.bias"][3] = torch.nan
    save_file(found, tmp_path / "run" / "model.safetensors")
    (tmp_path / "run" / "hashes.json").unlink()
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(
        PolymodalError,
        match=r"weights captions\.head\.bias for .* the training diverged\. Train again",
    ):
        USES[use](tmp_path / "run", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} - before <= {"b"}


def test_a_learned_json_without_what_is_needed(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "learned.json").write_text("{}")
    with pytest.raises(PolymodalError, match=r"learned\.json is damaged, or not of this run"):
        polymodal.load(tmp_path / "run")
    (tmp_path / "run" / "hashes.json").unlink()
    with pytest.raises(
        PolymodalError, match=r"learned\.json does not have what vse learns from its data"
    ):
        polymodal.load(tmp_path / "run")


def test_not_a_run(tmp_path):
    with pytest.raises(PolymodalError, match="is no run"):
        polymodal.load(tmp_path)


@pytest.mark.parametrize("name", [None, 3])
def test_not_even_a_name(name):
    with pytest.raises(PolymodalError, match=f"A run is named by its directory, .* not {name}"):
        polymodal.load(name)


def test_a_setting_that_is_none(squares, tmp_path, run):
    rest = "data: scenes\ntraining: {seed: 0}\n"
    (tmp_path / "config.yaml").write_text(f"system: vse\nmodel: {{margn: 0.2}}\n{rest}")
    with pytest.raises(PolymodalError, match=r"config\.yaml: 'margn'\. Did you mean 'margin'"):
        polymodal.load(tmp_path)
    (tmp_path / "config.yaml").write_text(f"system: vsee\nmodel: {{}}\n{rest}")
    with pytest.raises(PolymodalError, match="Unknown system 'vsee'"):
        polymodal.load(tmp_path)


def test_init_starts_from_another_runs_weights(run, squares, tmp_path):
    train_squares(squares, tmp_path, init=run, max_steps=1, seed=9, model={"lr": 1e-30})
    for name, value in weights(tmp_path).items():
        torch.testing.assert_close(value, weights(run)[name], rtol=0, atol=1e-20)


def test_init_refuses_another_vocabulary(run, squares, tmp_path):
    other = write_squares(tmp_path / "other")
    text = (other / "captions.csv").read_text().replace("something", "anything")
    (other / "captions.csv").write_text(text)
    with pytest.raises(PolymodalError, match="run with another vocabulary"):
        train_squares(other, tmp_path / "b", init=run)


def test_init_refuses_another_shape(run, squares, tmp_path):
    with pytest.raises(PolymodalError, match=r"another shape of model, by its weights .*head"):
        train_squares(squares, tmp_path, init=run, model={"embed_dim": 24})


def test_init_refuses_another_encoder(run, squares, tmp_path):
    vit = str(write_backbone(tmp_path / "vit", "vit"))
    with pytest.raises(PolymodalError, match="another shape of model, by its weights images"):
        train_squares(squares, tmp_path / "b", init=run, model={"image_encoder": vit})


def test_a_frozen_phase_is_followed_by_a_tuned_one(squares, tmp_path):
    vit = str(write_backbone(tmp_path / "vit", "vit"))
    train_squares(squares, tmp_path / "a", model={"image_encoder": vit})
    tuned = {"image_encoder": vit, "finetune": True, "lr": 1e-30}
    train_squares(squares, tmp_path / "b", init=tmp_path / "a", max_steps=1, model=tuned)
    first, second = polymodal.load(tmp_path / "a"), polymodal.load(tmp_path / "b")
    picture = [squares / "val-000.png"]
    torch.testing.assert_close(second.encode_images(picture), first.encode_images(picture))


def test_a_run_on_a_backbone_needs_only_its_own_folder(squares, tmp_path):
    vit = write_backbone(tmp_path / "vit", "vit")
    train_squares(squares, tmp_path / "a", model={"image_encoder": str(vit)})
    (vit / "config.json").unlink()
    learned = json.loads((tmp_path / "a" / "learned.json").read_text())
    assert learned["image_encoder"]["kind"] == "transformers"
    assert polymodal.load(tmp_path / "a").encode_images([squares / "val-000.png"]).shape == (1, 16)


def test_a_crop_must_fit_the_backbone(squares, tmp_path):
    vit = str(write_backbone(tmp_path / "vit", "vit"))
    with pytest.raises(PolymodalError, match="takes pictures of 32×32, but the data are 26×26"):
        train_squares(squares, tmp_path / "a", model={"image_encoder": vit, "crop": 0.8})


def test_a_backbone_without_weights(squares, tmp_path):
    vit = write_backbone(tmp_path / "vit", "vit")
    (vit / "model.safetensors").unlink()
    with pytest.raises(PolymodalError, match="has no weights that could be loaded"):
        train_squares(squares, tmp_path / "a", model={"image_encoder": str(vit)})


def test_only_load_is_brought_in_late():
    with pytest.raises(AttributeError, match="no attribute 'unload'"):
        _ = polymodal.unload
