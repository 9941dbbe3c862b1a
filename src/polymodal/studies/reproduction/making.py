"""A row trained and measured."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polymodal.base.hardware import on_gpu
from polymodal.base.progress import say
from polymodal.runs import loading
from polymodal.runs.run_folder import Run
from polymodal.studies.reproduction.tasks import (
    Task,
    features_place,
    kept_open,
    train,
    with_first_seed,
)
from polymodal.studies.result_files import Row
from polymodal.studies.study import Probe, named


@dataclass(frozen=True, kw_only=True)
class Made:
    """A row and how it came about."""

    row: Row
    metrics: Mapping[str, Any]


def make(task: Task) -> Made:
    """Train a row, phase after phase, and measure it."""
    run = train(task, task.recipe)
    metrics = Run(run).metrics
    study = named(task.study)
    probe = task.recipe.probe or study.probe or study.figure
    scores = measure(task, run, probe) if probe else metrics["scores"][study.split]
    scores = by_folds(scores) if study.folds else scores
    row = Row(
        name=task.recipe.name,
        data=task.data,
        seed=task.seed,
        metrics=scores,
        block=task.recipe.block,
    )
    told = {"chosen": dict(task.chosen), "tried": dict(task.tried)} if task.chosen else {}
    told |= {"symptoms": metrics["symptoms"]} if metrics["symptoms"] else {}
    return Made(row=row, metrics={**metrics, "protocol": {**metrics["protocol"], **told}})


def measure(task: Task, run: Path, probe: Probe) -> dict[str, float]:
    """What a study asks of a trained system, or draws of it."""
    device = "cuda" if on_gpu(task.accelerator) else "cpu"
    features = task.recipe.encoder and features_place(task.data, task.recipe.encoder, task.folder)
    given: list[Any] = [kept_open(task.data, features=features or None, skip_bad=False)]
    if task.recipe.beside:
        given.append(loading.load(train(with_first_seed(task), task.recipe.beside), device))
    if not named(task.study).figure:
        return probe(loading.load(run, device), *given)
    found = probe(loading.load(run, device), *given, out=picture(task))
    say(f"Drew {picture(task)}.")
    return found


def picture(task: Task) -> Path:
    """Where the figure of a row is drawn."""
    words = (re.sub(r"[^\w+=.]+", "-", task.recipe.label).strip("-"), str(task.seed))
    return task.folder / f"{task.study}-{'-'.join(words)}.png"


def by_folds(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores over folds under their plain names, and those over all images together as `all_…`.

    >>> by_folds({"rsum": 9.0, "i2t_hub": 0.1, "fold_rsum": 20.0})
    {'all_rsum': 9.0, 'i2t_hub': 0.1, 'rsum': 20.0}
    """
    folds = {k.removeprefix("fold_"): v for k, v in scores.items() if k.startswith("fold_")}
    whole = {k: v for k, v in scores.items() if not k.startswith("fold_")}
    return {f"all_{k}" if k in folds else k: v for k, v in whole.items()} | folds
