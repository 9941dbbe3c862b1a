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
    cached_splits,
    features_folder,
    train,
    with_first_seed,
)
from polymodal.studies.result_files import Row
from polymodal.studies.study import Probe, study_named


@dataclass(frozen=True, kw_only=True)
class MeasuredRow:
    """A row and the metrics file of its run."""

    row: Row
    metrics: Mapping[str, Any]


def measure_row(task: Task) -> MeasuredRow:
    """Train a row, phase after phase, and measure it."""
    run = train(task, task.recipe)
    metrics = Run(run).metrics
    measuring = study_named(task.study).measuring
    probe = task.recipe.probe or measuring.probe
    scores = probe_scores(task, run, probe) if probe else metrics["scores"][measuring.split]
    if task.recipe.of_scores:
        scores = dict(task.recipe.of_scores(scores))
    if measuring.of_curves:
        scores = scores | measuring.of_curves(metrics["curves"])
    row = Row(
        name=task.recipe.name,
        data=task.data,
        seed=task.seed,
        metrics=fold_means(scores) if measuring.folds else scores,
        block=task.recipe.block,
    )
    extra = {"chosen": dict(task.chosen), "tried": dict(task.tried)} if task.chosen else {}
    extra |= {"symptoms": metrics["symptoms"]} if metrics["symptoms"] else {}
    return MeasuredRow(row=row, metrics={**metrics, "protocol": {**metrics["protocol"], **extra}})


def probe_scores(task: Task, run: Path, probe: Probe) -> dict[str, float]:
    """What a probe measures of a trained system; it draws a figure if the study has one."""
    device = "cuda" if on_gpu(task.accelerator) else "cpu"
    encoder = task.recipe.encoder
    features = features_folder(task, encoder) if encoder else None
    system = loading.load(run, device)
    regions = task.regions if task.recipe.regions else None
    splits = cached_splits(task.data, features=features, regions=regions, skip_bad=False)
    arguments: list[Any] = [splits]
    for reference in task.recipe.references:
        arguments.append(loading.load(train(with_first_seed(task), reference), device))
    if not study_named(task.study).measuring.draws:
        return probe(system, *arguments)
    scores = probe(system, *arguments, out=figure_path(task))
    say(f"Drew {figure_path(task)}.")
    return scores


def figure_path(task: Task) -> Path:
    """The file of a row's figure."""
    words = (re.sub(r"[^\w+=.]+", "-", task.recipe.label).strip("-"), str(task.seed))
    return task.folder / f"{task.study}-{'-'.join(words)}.png"


def fold_means(scores: Mapping[str, float]) -> dict[str, float]:
    """Means over folds under the plain names of their scores, and scores over all images as `all_…`.

    >>> fold_means({"rsum": 9.0, "i2t_hub": 0.1, "fold_rsum": 20.0})
    {'all_rsum': 9.0, 'i2t_hub': 0.1, 'rsum': 20.0}
    """
    folds = {k.removeprefix("fold_"): v for k, v in scores.items() if k.startswith("fold_")}
    whole = {k: v for k, v in scores.items() if not k.startswith("fold_")}
    return {f"all_{k}" if k in folds else k: v for k, v in whole.items()} | folds
