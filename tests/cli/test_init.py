"""`--init RUN` brings the run's model settings, so that a second phase need not repeat them."""

import pytest
import torch
import yaml

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.cli.train import parse
from polymodal.data.features import write_features
from polymodal.data.folder import open_folder
from polymodal.runs.run_folder import Run
from toys import train_squares, write_backbone


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    return str(write_backbone(tmp_path_factory.mktemp("models") / "vit", "vit"))


@pytest.fixture(scope="module")
def run(squares, vit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder, model={"image_encoder": vit, "lr": 1e-3, "negatives": "sum"})
    return folder


def test_flags_go_over_config_over_the_run_over_defaults(run, vit, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump({"data": "scenes", "model": {"lr": 5e-4, "fold": 50}}))
    for init in (["--init", str(run)], [f"--init={run}"]):
        arguments = ["--run", "r", *init, "--config", str(file), "--fold", "70", "--finetune"]
        where, model, training = parse("vse", arguments)
        assert where.init == run
        assert (model.embed_dim, model.image_encoder, model.negatives) == (16, vit, "sum")
        assert (model.lr, model.fold, model.finetune, model.margin) == (5e-4, 70, True, 0.2)
        assert training.max_steps is None  # the budget is not the other run's


def test_either_name_of_a_setting_goes_over_the_run(tmp_path):
    """Which keeps it under the old one."""
    before = {
        "system": "aae",
        "data": "birds",
        "model": {"adversity": 3.0},
        "training": {"seed": 0},
    }
    Run(tmp_path).begin(before, frozenset())
    (tmp_path / "learned.json").write_text("{}")
    for name in ("adversity", "adversarial_weight"):
        file = tmp_path / "a.yaml"
        file.write_text(yaml.safe_dump({"data": "birds", "run": "r", "model": {name: 0.5}}))
        _, model, _ = parse("aae", ["--config", str(file), "--init", str(tmp_path)])
        assert model.adversarial_weight == 0.5
    _, model, _ = parse("aae", ["--data", "birds", "--run", "r", "--init", str(tmp_path)])
    assert model.adversarial_weight == 3


def test_a_config_file_may_name_it(run, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump({"data": "scenes", "run": "r", "init": str(run)}))
    _, model, _ = parse("vse", ["--config", str(file)])
    assert (model.embed_dim, model.negatives) == (16, "sum")


def test_the_second_phase_in_one_line(run, squares, tmp_path, capsys):
    data = f"folder:{squares},size=32"
    short = ["--max-steps", "1", "--batch-size", "8", "--accelerator", "cpu", "--lr", "1e-30"]
    command = ["train", "vse", "--data", data, "--run", str(tmp_path), "--init", str(run)]
    assert main([*command, "--finetune", *short]) == 0
    assert Run(tmp_path).config["model"] == Run(run).config["model"] | {
        "finetune": True,
        "lr": 1e-30,
    }
    picture = [squares / "val-000.png"]
    first, second = (polymodal.load(folder).encode_images(picture) for folder in (run, tmp_path))
    torch.testing.assert_close(first, second)


def test_features_give_way_to_their_encoder(squares, vit, tmp_path):
    splits = open_folder(squares, size=32, progress=False)
    folder = tmp_path / "features"
    write_features(dict(splits), lambda x: x.mean((1, 2)) / 255, folder, vit, progress=False)
    train_squares(squares, tmp_path / "a", features=folder)
    assert Run(tmp_path / "a").config["model"]["image_encoder"] == "convnet"
    arguments = ["--data", "scenes", "--run", "r", "--init", str(tmp_path / "a")]
    assert parse("vse", arguments)[1].image_encoder == vit
    assert parse("vse", [*arguments, "--image-encoder", "convnet"])[1].image_encoder == "convnet"


def test_another_system_and_no_run(run, tmp_path):
    with pytest.raises(PolymodalError, match="names a run of vse, but this run trains gaussian"):
        parse("gaussian", ["--data", "scenes", "--run", "r", "--init", str(run)])
    with pytest.raises(PolymodalError, match="--init needs a run directory"):
        parse("vse", ["--data", "scenes", "--run", "r", "--init"])
    with pytest.raises(PolymodalError, match="is no run"):
        parse("vse", ["--data", "scenes", "--run", "r", "--init", str(tmp_path)])
