"""A row trained and measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polymodal import jobs, loading
from polymodal.reproduction.tasks import Task, features_place, on_gpu, train
from polymodal.results import Row
from polymodal.runs import Run
from polymodal.studies import named


@dataclass(frozen=True, kw_only=True)
class Made:
    """A row and how it came about."""

    row: Row
    metrics: Mapping[str, Any]


def make(task: Task) -> Made:
    """Train a row, phase after phase, and measure it."""
    jobs.say(str(task))
    run = train(task, task.recipe)
    metrics = Run(run).metrics
    study = named(task.study)
    scores = measure(task, run, study.probe) if study.probe else metrics["scores"]["test"]
    scores = by_folds(scores) if study.folds else scores
    row = Row(name=task.recipe.name, data=task.data, seed=task.seed, metrics=scores)
    told = {"chosen": dict(task.chosen), "tried": dict(task.tried)} if task.chosen else {}
    told |= {"symptoms": metrics["symptoms"]} if metrics["symptoms"] else {}
    return Made(row=row, metrics={**metrics, "protocol": {**metrics["protocol"], **told}})


def measure(task: Task, run: Path, probe: Callable[..., dict[str, float]]) -> dict[str, float]:
    """What a study asks of a trained system."""
    system = loading.load(run, "cuda" if on_gpu(task.accelerator) else "cpu")
    features = task.recipe.encoder and features_place(task.data, task.recipe.encoder, task.folder)
    return probe(system, jobs.open_data(task.data, features=features or None))


def by_folds(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores over folds under their plain names, and those over all images together as `all_…`.

    >>> by_folds({"rsum": 9.0, "i2t_hub": 0.1, "fold_rsum": 20.0})
    {'all_rsum': 9.0, 'i2t_hub': 0.1, 'rsum': 20.0}
    """
    folds = {k.removeprefix("fold_"): v for k, v in scores.items() if k.startswith("fold_")}
    whole = {k: v for k, v in scores.items() if not k.startswith("fold_")}
    return {f"all_{k}" if k in folds else k: v for k, v in whole.items()} | folds
