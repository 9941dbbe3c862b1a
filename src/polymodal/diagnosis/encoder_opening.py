"""From what a user names to an encoder: a run, a shipped model, a backbone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable
from polymodal.data.records import Dataset
from polymodal.diagnosis.backbones import of_backbone
from polymodal.diagnosis.encoder_measures import pixels
from polymodal.diagnosis.encoders import Encoder, as_encoder
from polymodal.runs import shipped
from polymodal.runs.loading import load
from polymodal.runs.run_folder import Run
from polymodal.systems.zeroshot import Learner


def opened(given: Any, splits: Mapping[str, Dataset] | Dataset, device: str) -> Encoder:
    """An encoder by what the user gave: one that is there, or a path or name."""
    if not isinstance(given, str | Path):
        return as_encoder(given, pixels(splits))
    if is_run(given):
        return as_encoder(learner(given, device), pixels(splits))
    check_encoder(given)
    return of_backbone(str(given), pixels(splits), usable(device))


def check_encoder(given: Path | str) -> None:
    """Refuse what is not there, and a folder that holds neither a run nor a transformers model."""
    if is_run(given):
        return
    if not Path(given).is_dir():
        # says so: a hub id is not to be told from a run that was misspelt
        shipped.find(given)
    if not (Path(given) / "config.json").exists():
        raise PolymodalError(
            f"{given} is neither a run (no config.yaml) nor a transformers model (no config.json). "
            "Give the folder of one."
        )


def learner(given: Path | str, device: str) -> Learner:
    """The learner of a run, trained."""
    system = load(given, device)
    if not isinstance(system, Learner):
        raise PolymodalError(
            f"{given} is a run of {system_of(given)}, which has no map of local features to "
            "diagnose. Give a run of a learner of features, such as fc or cmdim."
        )
    return system


def untrained(given: Path | str, device: str, seed: int = 0) -> Learner:
    """The learner of a run as it is before any step: what its architecture alone gives."""
    trained = learner(given, device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(trained)(trained.config, trained.learned)
    return fresh.eval().to(trained.device)


def is_run(given: Path | str) -> bool:
    """Whether this is the folder of a run, or a shipped model."""
    return (Path(given) / "config.yaml").exists() or str(given) in shipped.names()


def system_of(given: Path | str) -> str:
    """The system of a run."""
    return str(Run(shipped.find(given)).config["system"])


def own_data(given: Path | str) -> str | None:
    """The data that a run was trained on, or nothing if it is no run."""
    return str(Run(shipped.find(given)).config["data"]) if is_run(given) else None
