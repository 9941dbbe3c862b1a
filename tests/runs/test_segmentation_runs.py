"""Segmentation from data to a run: trained, resumed, evaluated with every subset, and loaded again."""

import pytest
import torch

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.systems.medical import cmim
from polymodal.systems.medical.cmim import CMIM
from polymodal.training.training_config import Training
from scans import scan_splits

CONFIG = cmim.Config(width=8, levels=2, lr=1e-2, critic_hidden=8, learn_from="random")


def opening(data, **how):
    return scan_splits(count=30, names=("flair", "t1"), lacking={"t1": 4})


def train(run, **changes):
    how = {"max_steps": 12, "batch_size": 6, "val_every": 6, "checkpoint_every": 3}
    training = Training(accelerator="cpu", **how | changes)
    return jobs.train("cmim", CONFIG, training, data="scans", run=run, opening=opening)


def test_a_run_is_scored_with_every_subset_and_loaded_again(tmp_path, capsys):
    metrics = train(tmp_path / "run")
    test = metrics["scores"]["test"]
    assert {"dice_flair", "dice_t1", "dice_flair+t1", "hd95_t1", "sensitivity_flair"} <= test.keys()
    assert metrics["monitor"] == "dice_alone"
    assert metrics["protocol"]["use"] == "research only, not a medical device"
    again = jobs.evaluate(tmp_path / "run", opening=opening)
    assert again["scores"] == {"test": test}
    card = (tmp_path / "run/card.md").read_text()
    assert "not a medical device" in card
    model = polymodal.load(tmp_path / "run")
    assert isinstance(model, CMIM)


def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path, monkeypatch):
    train(tmp_path / "whole")
    step = CMIM.training_step

    def stopping(self, batch, batch_idx):
        if self.global_step == 8:
            raise KeyboardInterrupt
        return step(self, batch, batch_idx)

    monkeypatch.setattr(CMIM, "training_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "stopped")
    monkeypatch.undo()
    train(tmp_path / "stopped")
    train(tmp_path / "resident", resident=True)
    whole = Run(tmp_path / "whole").weights()
    for other in ("stopped", "resident"):
        found = Run(tmp_path / other).weights()
        assert all(torch.equal(found[name], value) for name, value in whole.items())


def test_held_out_scans_of_another_size_are_refused_before_training(tmp_path):
    def other(data, **how):
        splits = opening(data)
        return {**splits, "test": scan_splits(count=30, side=24)["test"]}

    training = Training(accelerator="cpu", max_steps=2, batch_size=6)
    with pytest.raises(PolymodalError, match="trained on scans of 16×16, but the data are 24×24"):
        jobs.train("cmim", CONFIG, training, data="scans", run=tmp_path / "a", opening=other)
