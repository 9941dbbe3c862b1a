"""Two modalities of each item, one missing for a third of them, several targets, no captions: trained,
resumed and evaluated as all data are."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from polymodal import systems
from polymodal.base.errors import PolymodalError
from polymodal.data.batches import examples_of
from polymodal.data.columns import Each, Stored
from polymodal.data.groups import by_group
from polymodal.data.records import Dataset
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.systems.retrieval import vse
from polymodal.training.system import System
from polymodal.training.training_config import Training

COUNT, PER_PATIENT = 240, 3


def scans() -> dict[str, Dataset]:
    """Two targets: one is seen in the plane, the other in the volume, which every third item lacks."""
    chance = np.random.default_rng(0)
    targets = chance.integers(0, 2, (COUNT, 2)).astype(np.float32)
    plane = chance.normal(size=(COUNT, 1, 16, 16)).astype(np.float32)
    volume = chance.normal(size=(COUNT, 2, 8, 8, 8)).astype(np.float32)
    plane += 2 * targets[:, 0, None, None, None]
    volume += 2 * targets[:, 1, None, None, None, None]
    missing = np.arange(COUNT) % 3 == 0
    volume[missing] = np.nan  # which must never be looked at
    columns = {
        "plane": Stored(plane),
        "volume": Stored(volume, present=~missing),
        "targets": Stored(targets),
        "group": Each.of([f"patient {i // PER_PATIENT}" for i in range(COUNT)]),
    }
    return by_group(Dataset(columns), {"train": 0.6, "val": 0.2, "test": 0.2})


@dataclass(frozen=True, kw_only=True)
class Config:
    width: int = 8
    lr: float = 1e-2


class TwoEyes(System):
    """Each modality by its own encoder; what is missing says nothing."""

    monitor = "accuracy"
    stop_at: int | None = None

    def __init__(self, config, learned):
        super().__init__()
        self.config = config
        width, sizes = config.width, learned["sizes"]
        self.eyes = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Flatten(), nn.Linear(size, width))
                for name, size in sizes.items()
            }
        )
        self.head = nn.Linear(width, learned["targets"])

    def examples(self, dataset):
        return examples_of(dataset, *self.eyes, "targets", whom="Classification")

    def forward(self, batch):
        seen = 0
        for name, eye in self.eyes.items():
            there = getattr(batch, f"{name}_present", None)
            found = eye(getattr(batch, name))
            seen = seen + (found if there is None else found * there[:, None])
        return self.head(torch.relu(seen))

    def training_step(self, batch, batch_idx):
        if self.global_step == TwoEyes.stop_at:
            raise KeyboardInterrupt
        loss = binary_cross_entropy_with_logits(self(batch), batch.targets)
        return {"loss": loss, "shown": loss.detach()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), self.config.lr)

    def validate(self, dataset):
        return self.evaluate(dataset)

    @torch.no_grad()
    def evaluate(self, dataset):
        self.eval()
        right, there = [], []
        for block in self.examples(dataset).blocks(size=16):
            batch = block.to(self.device)
            right.append((self(batch) > 0) == (batch.targets > 0.5))
            there.append(batch.volume_present)
        found, seen = torch.cat(right).float(), torch.cat(there)
        return {
            "accuracy": 100 * found.mean().item(),
            "of_the_plane": 100 * found[:, 0].mean().item(),
            "of_the_volume": 100 * found[seen, 1].mean().item(),
        }


def learn(config, train):
    """The size of each modality, and how many targets there are."""
    sizes = {name: int(train.column(name).batch([0])[0].size) for name in ("plane", "volume")}
    return {"sizes": sizes, "targets": train.column("targets").batch([0]).shape[1]}


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    module = SimpleNamespace(Config=Config, learn=learn, build=TwoEyes)
    known = systems.system_named
    monkeypatch.setattr(
        systems, "system_named", lambda name: module if name == "toy" else known(name)
    )


def opening(data, **how):
    return scans()


def train(run, **changes):
    how = {"max_steps": 60, "batch_size": 16, "val_every": 20, "checkpoint_every": 5, "clip": 0.0}
    training = Training(accelerator="cpu", **how | changes)
    return jobs.train("toy", Config(), training, data="scans", run=run, opening=opening)


def weights(run) -> dict[str, torch.Tensor]:
    return Run(run).weights()


def test_it_is_trained_and_evaluated_as_all_data_are(tmp_path, capsys):
    metrics = train(tmp_path / "run")
    test = metrics["scores"]["test"]
    assert test["of_the_plane"] > 80 and test["of_the_volume"] > 80
    splits = scans()
    told = metrics["protocol"]["splits"]["test"]
    lost = int((~splits["test"].columns["volume"].present).sum())
    assert told == {
        "items": len(splits["test"]),
        "missing": {"volume": lost},
        "hash": splits["test"].fingerprint,
    }
    assert 0 < lost < len(splits["test"])
    assert metrics["protocol"]["arrays"] == "as they were given"
    assert (
        json.loads((tmp_path / "run/learned.json").read_text())["train"]
        == splits["train"].fingerprint
    )
    again = jobs.evaluate(tmp_path / "run", opening=opening)
    assert again["scores"] == {"test": test}
    assert again["protocol"]["splits"] == {"test": told}
    assert "toy" in (tmp_path / "run/card.md").read_text()


def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path, monkeypatch):
    train(tmp_path / "whole")
    monkeypatch.setattr(TwoEyes, "stop_at", 33)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "stopped")
    assert not Run(tmp_path / "stopped").finished
    monkeypatch.setattr(TwoEyes, "stop_at", None)
    train(tmp_path / "stopped")
    train(tmp_path / "resident", resident=True)
    whole = weights(tmp_path / "whole")
    for other in ("stopped", "resident"):
        found = weights(tmp_path / other)
        assert found.keys() == whole.keys()
        assert all(torch.equal(found[name], value) for name, value in whole.items())


def test_no_patient_is_in_two_splits():
    patients = [set(split.columns["group"]) for split in scans().values()]
    assert sum(map(len, patients)) == len(set.union(*patients)) == COUNT // PER_PATIENT


def test_other_systems_say_what_these_data_lack(tmp_path):
    training = Training(max_steps=2, batch_size=4, accelerator="cpu")
    with pytest.raises(
        PolymodalError, match=r"needs the column .captions. .*have only: plane, volume"
    ):
        jobs.train("vse", vse.Config(), training, data="scans", run=tmp_path, opening=opening)
