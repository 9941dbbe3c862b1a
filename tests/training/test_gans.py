"""Several optimisers, manual optimisation, averaged weights, frozen parts, a score that is to be low."""

import json
from pathlib import Path

import pytest
import torch

import gans
from gans import train_gan
from polymodal import systems
from polymodal.base.errors import PolymodalError
from polymodal.runs.run_folder import Run
from polymodal.training.checkpoints import SafeCheckpoints
from polymodal.training.system import System
from toys import killed_at

TRAINING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import gans
gans.train_gan(*map(Path, sys.argv[2:]))
"""


@pytest.fixture(autouse=True)
def named(monkeypatch):
    """What `train_gan` puts in the place of the systems' own list goes back."""
    monkeypatch.setattr(systems, "system_named", systems.system_named)


@pytest.fixture(scope="module")
def whole(squares, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "system_named", systems.system_named)
        return run, train_gan(squares, run)


def last(run: Path) -> dict:
    return SafeCheckpoints().load_checkpoint(sorted(run.glob("checkpoints/*.ckpt"))[-1])


def killed(squares: Path, run: Path, step: int) -> None:
    """Train in a process of its own, and kill -9 it as soon as there is a checkpoint of this step."""
    folder = str(Path(gans.__file__).parent)
    killed_at(run, step, "-c", TRAINING, folder, str(squares), str(run))


@pytest.mark.slow
def test_a_killed_gan_ends_as_if_it_had_not_been(whole, squares, tmp_path, capsys):
    run, metrics = whole
    killed(squares, tmp_path / "run", 5)
    again = train_gan(squares, tmp_path / "run")
    assert "Going on from step" in capsys.readouterr().err
    mine, theirs = last(tmp_path / "run"), last(run)
    for name, value in theirs["state_dict"].items():
        assert torch.equal(mine["state_dict"][name], value), name
    for one, other in zip(mine["optimizer_states"], theirs["optimizer_states"], strict=True):
        for place, moments in other["state"].items():
            assert all(torch.equal(one["state"][place][k], v) for k, v in moments.items())
    assert (tmp_path / "run/model.safetensors").read_bytes() == (
        run / "model.safetensors"
    ).read_bytes()
    assert again["scores"] == metrics["scores"]
    assert [p["distance"] for p in again["curves"] if "distance" in p] == [
        p["distance"] for p in metrics["curves"] if "distance" in p
    ]


def test_steps_are_batches_however_many_optimisers_move(whole):
    run, metrics = whole
    assert [point["step"] for point in metrics["curves"]] == list(range(1, 21))
    assert last(run)["global_step"] == 60  # Lightning's own count
    assert sorted(path.name for path in run.glob("checkpoints/*")) == [
        "step-00000015.ckpt",
        "step-00000020.ckpt",
    ]


def test_the_lowest_score_is_kept(squares, tmp_path, monkeypatch):
    scores = iter([3.0, 1.0, 2.0, 1.0])
    monkeypatch.setattr(gans.GAN, "validate", lambda *_: {"distance": next(scores)})
    found = train_gan(squares, tmp_path, max_steps=8)
    assert (found["selected"]["step"], found["selected"]["distance"]) == (4, 1.0)
    kept = Run(tmp_path).weights()
    assert any(not torch.equal(kept[k], v) for k, v in last(tmp_path)["state_dict"].items())


def test_which_parts_move(whole):
    run, _ = whole
    torch.manual_seed(0)
    start = gans.build(gans.Config(), {"size": 32}).state_dict()
    moved = {k for k, v in last(run)["state_dict"].items() if not torch.equal(v, start[k])}
    assert {name.split(".")[0] for name in moved} == {"generator", "judge", "average"}


def test_gradients_of_each_optimiser_are_clipped(squares, tmp_path, monkeypatch):
    norms = []
    step = torch.optim.Adam.step

    def watching(self, *args, **kwargs):
        own = [p.grad for group in self.param_groups for p in group["params"]]
        norms.append(torch.cat([grad.flatten() for grad in own]).norm().item())
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.Adam, "step", watching)
    train_gan(squares, tmp_path, max_steps=2, clip=1e-3)
    assert norms == [pytest.approx(1e-3, rel=1e-2)] * 6


def test_what_is_scored_lower_is_written_so(whole):
    run, _ = whole
    protocol = json.loads((run / "metrics.json").read_text())["protocol"]
    assert protocol["selection"] == "lowest distance on val"


@pytest.mark.parametrize(
    ("better", "score", "best", "found"),
    [("higher", 2.0, 1.0, True), ("higher", 1.0, 1.0, False), ("lower", 1.0, 2.0, True),
     ("lower", 2.0, 2.0, False), ("higher", 0.0, None, True), ("lower", float("nan"), None, False),
     ("lower", float("nan"), 1.0, False)],
)  # fmt: skip
def test_which_score_is_better(better, score, best, found):
    assert System.improves(type("Some", (), {"better": better}), score, best) == found


def test_a_system_that_starts_from_nothing_says_so():
    with pytest.raises(PolymodalError, match="does not start from another run: leave out --init"):
        gans.build(gans.Config(), {"size": 32}).begin_from({}, {})


def test_a_part_is_taken_from_the_run_that_trained_it_and_stays(whole):
    run, _ = whole
    system = gans.build(gans.Config(), {"size": 32})
    weights = {k[6:]: v for k, v in Run(run).weights().items() if k.startswith("judge.")}
    system.take("judge", weights, {})
    assert all(torch.equal(v, weights[k]) for k, v in system.judge.state_dict().items())
    assert not any(p.requires_grad for p in system.judge.parameters())
    with pytest.raises(
        PolymodalError, match=r"Unknown part of this system 'juge'\. Did you mean 'judge'"
    ):
        system.take("juge", weights, {})
    with pytest.raises(
        PolymodalError, match="--parts features names a run whose model has another"
    ):
        system.take("features", weights, {})


def test_a_training_takes_a_part_from_another_run(squares, tmp_path):
    trained = torch.nn.Linear(3 * 32 * 32, 8)
    other = Run(tmp_path / "features")
    other.keep(trained)
    other.learn({})
    train_gan(squares, tmp_path / "run", max_steps=2, parts={"features": other.folder})
    assert torch.equal(Run(tmp_path / "run").weights()["features.weight"], trained.weight)
    assert Run(tmp_path / "run").config["parts"] == {"features": str(other.folder)}
    with pytest.raises(PolymodalError, match="parts"):
        (tmp_path / "run/metrics.json").unlink()
        train_gan(squares, tmp_path / "run", max_steps=2)


def test_examples_that_cannot_be_kept_on_a_device_are_refused(squares, tmp_path):
    with pytest.raises(
        PolymodalError, match=r"--resident is not for these examples\. Leave it out"
    ):
        train_gan(squares, tmp_path, resident=True)
