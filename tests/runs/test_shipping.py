"""Making a shipped model of a run: small, without what it can do without, with a card."""

import pytest
import torch
import yaml
from safetensors.torch import save_file

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.runs import shipped, shipping
from polymodal.runs.run_folder import Run
from polymodal.runs.shipping import repack, ship
from vlvaes import train_vlvae

LIMITS = "It knows squares alone."


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_vlvae(squares, folder)
    return folder


def test_parts_are_left_out(run, tmp_path):
    changes = {"densities": ["aggregate", "prior"]}
    folder = ship(run, "small", limits=LIMITS, changes=changes, into=tmp_path)
    whole = ship(run, "whole", limits=LIMITS, into=tmp_path)
    left_out = Run(whole).weights().keys() - Run(folder).weights().keys()
    assert left_out
    assert all(name.startswith("densities.true.") for name in left_out)
    system = polymodal.load(folder)
    assert system.generate("something red").shape == (1, 16, 16, 3)
    assert system.sample(2, prior="aggregate").images.shape == (2, 16, 16, 3)
    with pytest.raises(PolymodalError, match=r"has no q_true"):
        system.generate("something red", by="true")


def test_a_part_cannot_be_another(run, tmp_path):
    with pytest.raises(PolymodalError, match=r"no weights that fit densities\.aggregate\.flow"):
        ship(run, "a", limits=LIMITS, changes={"flow_hidden": 9}, into=tmp_path)
    with pytest.raises(PolymodalError, match=r"the model to ship: 'flows'\. Did you mean 'flow'"):
        ship(run, "a", limits=LIMITS, changes={"flows": "splines"}, into=tmp_path)
    assert not list(tmp_path.iterdir())


def test_too_large_is_refused_by_its_largest_parts(run, tmp_path, monkeypatch):
    size = ship(run, "a", limits=LIMITS, into=tmp_path).joinpath("model.safetensors").stat().st_size
    monkeypatch.setattr(shipping, "LARGEST", size)
    ship(run, "b", limits=LIMITS, into=tmp_path)
    monkeypatch.setattr(shipping, "LARGEST", size - 1)
    with pytest.raises(PolymodalError) as error:
        ship(run, "c", limits=LIMITS, into=tmp_path)
    assert f"The weights of c take {size / 1e6:.1f} MB, but at most" in str(error.value)
    assert "Largest: model.picture 0.0 MB, model.image_encoder 0.0 MB" in str(error.value)
    assert not (tmp_path / "c").exists()


def test_a_shipped_model_is_packed_again(run, tmp_path):
    """As one of an earlier release is, whose matrices were in half precision."""
    folder = ship(run, "a", limits=LIMITS, into=tmp_path)
    small = (folder / "model.safetensors").read_bytes()
    halves = {key: v.half() if v.dim() > 1 else v for key, v in Run(folder).weights().items()}
    save_file(halves, folder / "model.safetensors")
    assert {v.dtype for v in Run(folder).weights().values()} >= {torch.float16}  # as they were
    repack(folder)
    assert shipped.checked(folder) == folder
    assert len((folder / "model.safetensors").read_bytes()) == len(small)
    assert polymodal.load(folder).generate("something red").shape == (1, 16, 16, 3)


@pytest.mark.parametrize("name", ["", "Two", "a_b", "../a", "a--b"])
def test_a_name_is_plain(run, name, tmp_path):
    with pytest.raises(PolymodalError, match=f"small letters, digits and dashes, not '{name}'"):
        ship(run, name, limits=LIMITS, into=tmp_path)


def test_an_unfinished_run_is_not_shipped(run, tmp_path):
    import shutil

    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "metrics.json").unlink()
    with pytest.raises(
        PolymodalError, match=r"metrics\.json is missing: the run has not come so far"
    ):
        ship(tmp_path / "run", "a", limits=LIMITS, into=tmp_path)


def test_the_card_says_how_it_came_about(run, tmp_path):
    changes, figures = {"densities": ["aggregate"]}, {"correctness": "97.1 % of eight words"}
    told = {"limits": LIMITS, "history": "It was trained twice.", "figures": figures}
    folder = ship(run, "a-b", changes=changes, into=tmp_path, **told)
    card, metrics = (folder / "card.md").read_text("utf-8"), Run(run).metrics
    val = metrics["scores"]["val"]
    for part in (
        'polymodal.load("a-b")\nmodel.generate("…", count=8)',
        LIMITS,
        f"step {metrics['selected']['step']:.0f} (best log_q on val)",
        "`densities` became ['aggregate'].",
        "It was trained twice.",
        "As it is shipped:\n\n| figure | value |\n|---|---|\n| correctness | 97.1 % of eight words |",
        f"| log_px_normal on val | {val['log_px_normal']:.2f} ± {val['log_px_normal_error']:.2f} |",
        metrics["protocol"]["splits"]["train"]["hash"],
    ):
        assert part in card
    assert "encode_texts" not in card
    assert "spread" not in card
    settings = yaml.safe_load(card.split("```yaml\n")[-1].partition("```")[0])
    assert settings == Run(run).config


def test_no_folder_of_the_machine_is_named(run, tmp_path):
    import shutil

    shutil.copytree(run, tmp_path / "run")
    config = Run(run).config | {"init": "/home/me/runs/first"}
    (tmp_path / "run" / "config.yaml").write_text(yaml.safe_dump(config))
    folder = ship(tmp_path / "run", "a", limits=LIMITS, into=tmp_path)
    assert Run(folder).config["init"] == "first"
    assert "/home/me" not in (folder / "card.md").read_text("utf-8")
