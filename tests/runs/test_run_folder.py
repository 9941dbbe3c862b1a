"""The run directory: what it keeps, and what it says when something of it is amiss."""

import pytest
import torch
import yaml
from safetensors.torch import save_file
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.base.version import versions
from polymodal.runs.run_folder import Run, card, differences
from toys import flat, train_squares

TRAINING = {"seed": 0, "devices": 1}
ABSENT = {"features": None, "init": None, "skip_bad": False}
"""What the config of an earlier version may lack."""
CONFIG = {"system": "vse", "data": "scenes", "model": {"lr": 0.1}, "training": TRAINING, **ABSENT}


@pytest.fixture(scope="module")
def trained(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder, seed=3)
    return Run(folder)


def test_what_a_training_leaves(trained):
    files = {path.name for path in trained.folder.iterdir()}
    assert files == {
        "config.yaml",
        "learned.json",
        "model.safetensors",
        "hashes.json",
        "metrics.json",
        "card.md",
        "checkpoints",
        "tensorboard",
    }
    assert trained.finished
    assert trained.config["model"]["embed_dim"] == 16
    assert len(list((trained.folder / "tensorboard").glob("events*"))) == 1


def test_metrics_carry_their_protocol(trained):
    metrics = trained.metrics
    assert set(metrics["scores"]) == {"val", "test"}
    assert metrics["scores"]["test"]["rsum"] >= 0
    protocol = metrics["protocol"]
    assert protocol["data"].startswith("folder:")
    counts = {name: split["images"] for name, split in protocol["splits"].items()}
    assert counts == {"train": 48, "val": 16, "test": 16}
    assert len({split["hash"] for split in protocol["splits"].values()}) == 3
    assert protocol["seed"] == 3
    assert protocol["similarity"] == "cosine"
    assert protocol["selection"] == "best rsum on val"
    assert metrics["versions"]["torch"] == torch.__version__
    assert metrics["hardware"]["cores"] >= 1
    assert [point["step"] for point in metrics["curves"]] == [1, 2, 3]
    assert "rsum" in metrics["curves"][-1]


def test_the_card_tells_people(trained):
    text = (trained.folder / "card.md").read_text("utf-8")
    assert text.startswith("# vse on folder:")
    rsum = trained.metrics["scores"]["test"]["rsum"]
    assert f"| rsum | {rsum:.2f} |" in text
    assert "polymodal.load(" in text
    assert trained.metrics["protocol"]["splits"]["test"]["hash"] in text
    assert "embed_dim: 16" in text


def test_cards_need_no_more_than_config_and_metrics():
    metrics = {"command": "polymodal train", "scores": {"val": {"r": 1.234}}, "protocol": {"k": 1}}
    assert "| r | 1.23 |" in card(CONFIG, metrics)


def test_the_same_settings_go_on(tmp_path):
    run = Run(tmp_path)
    run.begin(CONFIG, frozenset())
    run.begin(CONFIG, frozenset())
    assert run.config == CONFIG


def test_settings_that_change_only_the_speed_may_differ(tmp_path):
    run = begun(tmp_path)
    changed = CONFIG | {"training": TRAINING | {"devices": 2}}
    run.begin(changed, frozenset({"devices"}))
    assert run.config == changed


def test_a_run_of_an_earlier_version_goes_on(tmp_path):
    run = begun(tmp_path)
    old = {name: value for name, value in CONFIG.items() if name not in ABSENT}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(old))
    assert run.config == CONFIG
    run.begin(CONFIG, frozenset())


def test_other_settings_are_named(tmp_path):
    run = begun(tmp_path)
    with pytest.raises(PolymodalError, match=r"(?s)begun with other settings:.*data: scenes before, "
                       r"x now.*model\.lr: 0\.1 before, 0\.2 now.*another --run"):  # fmt: skip
        run.begin(CONFIG | {"data": "x", "model": {"lr": 0.2}}, frozenset())
    assert run.config == CONFIG


def begun(folder) -> Run:
    """A run with a checkpoint to go on from."""
    run = Run(folder)
    run.begin(CONFIG, frozenset())
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "step-00000001.ckpt").touch()
    return run


def test_a_run_with_nothing_to_go_on_from_may_begin_anew(tmp_path):
    Run(tmp_path).begin(CONFIG | {"data": "scnes"}, frozenset())
    Run(tmp_path).begin(CONFIG, frozenset())
    assert Run(tmp_path).config == CONFIG


def test_differences_see_what_was_added_and_what_is_gone():
    assert differences({"a": 1}, {"b": 2}) == ["a: 1 before, None now", "b: None before, 2 now"]
    assert differences({"t": {"a": 1, "b": 1}}, {"t": {"a": 2, "b": 2}}, frozenset("b")) == [
        "t.a: 1 before, 2 now"
    ]


def test_weights_come_back(tmp_path):
    run, first, again = Run(tmp_path), nn.Linear(3, 2), nn.Linear(3, 2)
    run.keep(first)
    run.restore(again)
    assert torch.equal(first.weight, again.weight)


def test_no_run(tmp_path):
    with pytest.raises(PolymodalError, match=r"is no run: it has no config\.yaml"):
        _ = Run(tmp_path).config


def test_no_weights_yet(tmp_path):
    with pytest.raises(PolymodalError, match="is no run"):
        Run(tmp_path).weights()
    Run(tmp_path).begin(CONFIG, frozenset())
    with pytest.raises(PolymodalError, match=r"has no weights yet.*same `polymodal train` command"):
        Run(tmp_path).weights()


def test_weights_of_another_model_are_refused(tmp_path):
    Run(tmp_path).keep(nn.Linear(2, 3))
    with pytest.raises(PolymodalError, match="another version of the model") as caught:
        Run(tmp_path).restore(nn.Linear(2, 4))
    assert "Train it again" in str(caught.value) and "size mismatch" in str(caught.value)


def test_damaged_weights(tmp_path):
    run = Run(tmp_path)
    run.keep(nn.Linear(3, 2))
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(PolymodalError, match=r"model\.safetensors is damaged"):
        run.weights()
    (tmp_path / "hashes.json").unlink()
    with pytest.raises(PolymodalError, match=r"model\.safetensors is damaged"):
        run.weights()


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("name", ["weight", "running_mean"])
def test_weights_that_are_not_finite_are_neither_kept_nor_given(tmp_path, name, value):
    run, system = Run(tmp_path), nn.BatchNorm1d(3)
    run.keep(system)
    before = run.weights()
    with torch.no_grad():
        getattr(system, name)[1] = value
    message = rf"The weights {name} for .*model\.safetensors are not finite: .* a smaller --lr"
    with pytest.raises(PolymodalError, match=message):
        run.keep(system)
    assert torch.equal(run.weights()[name], before[name])
    save_file(system.state_dict(), tmp_path / "model.safetensors")  # as an earlier version kept it
    (tmp_path / "hashes.json").unlink()
    with pytest.raises(PolymodalError, match=message):
        run.restore(system)


def test_weights_of_an_attempt_that_left_no_checkpoint_are_not_those_of_the_next(tmp_path, capsys):
    run = Run(tmp_path)
    run.begin(CONFIG, frozenset())
    run.keep(nn.Linear(3, 2))
    run.begin(CONFIG | {"model": {"lr": 0.01}}, frozenset())
    assert "weights that an earlier attempt left are deleted" in flat(capsys.readouterr().err)
    with pytest.raises(PolymodalError, match="has no weights yet"):
        run.weights()


def test_a_run_that_lost_its_config_is_not_gone_on_with(tmp_path):
    run = begun(tmp_path)
    (tmp_path / "config.yaml").unlink()
    with pytest.raises(PolymodalError, match=r"has lost its config\.yaml\. Bring back the file"):
        run.begin(CONFIG, frozenset())


def test_missing_and_damaged_json(tmp_path):
    run = Run(tmp_path)
    for name in ("learned", "metrics"):
        with pytest.raises(PolymodalError, match=rf"{name}\.json is missing"):
            getattr(run, name)
        for content in ("", "{", "[]", "3", "\xff", "[" * 100_000):
            (tmp_path / f"{name}.json").write_text(content, "latin-1")
            with pytest.raises(PolymodalError, match=rf"{name}\.json is damaged.* Copy it again"):
                getattr(run, name)
    (tmp_path / "metrics.json").write_text("{}")
    with pytest.raises(PolymodalError, match=r"metrics\.json is damaged: it has no scores"):
        _ = run.metrics


def test_the_config_is_readable_yaml(trained):
    text = (trained.folder / "config.yaml").read_text("utf-8")
    assert text.startswith("system: vse\n")
    assert yaml.safe_load(text)["training"]["seed"] == 3


def test_absent_packages_are_said_to_be(monkeypatch):
    monkeypatch.setattr("polymodal.base.version.PACKAGES", ("torch", "no-such-package"))
    found = versions()
    assert found.pop("polymodal")[0].isdigit()
    assert found == {"torch": torch.__version__, "no-such-package": "absent"}
