"""Weights of transformers models that are cut off, other ones, or no numbers: said, and never run."""

import json
import os
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from backbones import write_model
from polymodal.base.errors import PolymodalError
from polymodal.nn.image_encoders import Backbone, describe_backbone
from polymodal.nn.language_models import LanguageModel, describe_language_model
from toys import flat, write_backbone

FILE = "model.safetensors"


class Evil:
    """What would make a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def changed(folder: Path, change) -> None:
    """Change the weights of a folder."""
    weights = change(load_file(folder / FILE))
    save_file(weights, folder / FILE, metadata={"format": "pt"})


def cut(folder: Path) -> None:
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:-9])


def foreign(folder: Path) -> None:
    (folder / FILE).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil(folder / "run"), protocol=2))


def other_shape(folder: Path) -> None:
    changed(folder, lambda found: {k: v[:1].clone() for k, v in found.items()})


def diverged(folder: Path) -> None:
    changed(folder, lambda found: {k: v * torch.nan for k, v in found.items()})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "has no weights that could be loaded: Error while deserializing header"),
        (foreign, "loaded: its file holds something else than tensors. Nothing of it was run"),
        (other_shape, "the shapes of its weights are not those that its config.json tells"),
        (diverged, "are not finite. Copy or download them again"),
    ],
)
def test_damaged_weights_are_refused(tmp_path, damage, message):
    folder = write_model(tmp_path / "bert", "masked-bert")
    damage(folder)
    words = LanguageModel(describe_language_model(str(folder)))
    with pytest.raises(PolymodalError, match=message):
        words.load_pretrained()
    assert not (folder / "run").exists()


def test_weights_that_begin_at_random_are_told(tmp_path, capsys):
    folder = write_model(tmp_path / "bert", "masked-bert")
    words = LanguageModel(describe_language_model(str(folder)))
    words.load_pretrained()
    assert "at random" not in capsys.readouterr().err
    name = "bert.embeddings.LayerNorm.bias"
    changed(folder, lambda found: {k: v for k, v in found.items() if k != name})
    words.load_pretrained()
    told = f"Weights that are not in the files of {folder} begin at random (1): {name}."
    assert told in flat(capsys.readouterr().err)


def test_a_pooler_that_nothing_reads_may_be_missing(tmp_path, capsys):
    folder = write_model(tmp_path / "bert", "bert")
    changed(folder, lambda found: {k: v for k, v in found.items() if "pooler" not in k})
    LanguageModel(describe_language_model(str(folder))).load_pretrained()
    assert "at random" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("write", "make", "kind"),
    [
        (write_backbone, lambda at: Backbone(describe_backbone(at)), "vit"),
        (write_model, lambda at: LanguageModel(describe_language_model(at)), "masked-bert"),
        (write_model, lambda at: LanguageModel(describe_language_model(at)), "bert"),
    ],
)
def test_a_model_that_cannot_be_built(tmp_path, write, make, kind):
    folder = write(tmp_path / kind, kind)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "none such"}))
    with pytest.raises(
        PolymodalError, match=r"config.json of .* no model that can be built: .*none such"
    ):
        make(str(folder))


@pytest.mark.parametrize("describe", [describe_backbone, describe_language_model])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"auto_map": {"AutoConfig": "own.C"}, "model_type": "own"},
            "code of its own, which is not",
        ),
        ({"hidden_size": "many"}, "Validation error for field 'hidden_size'"),
    ],
)
def test_a_config_of_another_kind(tmp_path, monkeypatch, describe, change, message):
    monkeypatch.setattr("builtins.input", lambda *words: pytest.fail("the user was asked"))
    vit = write_backbone(tmp_path / "vit", "vit")
    config = json.loads((vit / "config.json").read_text())
    (vit / "config.json").write_text(json.dumps(config | change))
    (vit / "own.py").write_text("raise SystemExit")
    with pytest.raises(PolymodalError, match=message):
        describe(str(vit))
