"""Settings that have choices: tried with one seed, chosen by the validation split."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.runs.run_folder import Run
from polymodal.studies.reproduction.tasks import Task, train
from polymodal.studies.result_files import Results
from polymodal.studies.study import Recipe


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The score of some settings of a row on the validation split."""

    data: str
    name: str
    settings: Mapping[str, Any]
    score: float


def trials_of(tasks: Sequence[Task], seed: int) -> list[Task]:
    """A task for each combination of settings of the rows' next phases to choose, with one seed."""
    trials = []
    for task in tasks:
        phase = next_phase(task.recipe)
        if task.seed != seed or not phase.choices:
            continue
        names, values = zip(*phase.choices, strict=True)
        for combination in product(*values):
            chosen = dict(zip(names, combination, strict=True))
            trial = with_chosen(phase, chosen)
            trial = replace(trial, training=replace(trial.training, final=False))  # to validate
            trials.append(replace(task, recipe=trial, chosen=chosen))
    return trials


def next_phase(recipe: Recipe) -> Recipe:
    """The phase whose settings are chosen next: the first, until they are chosen."""
    return recipe.first if recipe.first and recipe.first.choices else recipe


def with_chosen(phase: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """One phase with its chosen settings."""
    return replace(phase, model=replace(phase.model, **chosen), choices=())


def run_trial(task: Task) -> Trial:
    """Train a row with some settings; its score is the best of its validations."""
    metrics = Run(train(task, task.recipe)).metrics
    score = metrics["selected"][metrics["monitor"]]
    return Trial(data=task.data, name=task.recipe.label, settings=task.chosen, score=score)


def with_best(task: Task, trials: Sequence[Trial]) -> Task:
    """A task with the settings of its row that scored best on the validation split."""
    trials = [t for t in trials if (t.data, t.name) == (task.data, task.recipe.label)]
    if not trials:
        return task
    best = max(trials, key=lambda trial: trial.score)
    prefix = phase_prefix(task.recipe)
    chosen = {f"{prefix}{name}": value for name, value in best.settings.items()}
    tried = {f"{prefix}{json.dumps(t.settings)}": t.score for t in trials}
    return replace(
        task,
        recipe=with_settings(task.recipe, best.settings),
        chosen={**task.chosen, **chosen},
        tried={**task.tried, **tried},
    )


def phase_prefix(recipe: Recipe) -> str:
    """What stands before the settings of the next phase in a result file."""
    return "second phase: " if recipe.first and next_phase(recipe) is recipe else ""


def with_earlier_choices(task: Task, earlier: Results) -> Task:
    """A task with the settings that an earlier result file chose for its row; a second phase that the file
    does not have keeps its choices."""
    row = f"{task.recipe.label}, {task.data}"
    protocol = earlier.protocol.get("by_row", {}).get(row, {})
    recipe, chosen = task.recipe, protocol.get("chosen", {})
    while keys := {name: f"{phase_prefix(recipe)}{name}" for name, _ in next_phase(recipe).choices}:
        if not set(keys.values()) <= chosen.keys():
            break
        recipe = with_settings(recipe, {name: chosen[key] for name, key in keys.items()})
    if recipe is task.recipe and keys:
        raise PolymodalError(
            f"The result file of {earlier.study} has no {', '.join(keys)} for {row}. Leave --chosen "
            "out to choose again, or give the file of a study that chose it on the same data."
        )
    return replace(task, recipe=recipe, chosen=chosen, tried=protocol.get("tried", {}))


def with_settings(recipe: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with settings for its next phase. A second phase takes those of the first, except the
    learning rate."""
    phase = next_phase(recipe)
    if phase is recipe:
        return with_chosen(recipe, chosen)
    shared = {name: value for name, value in chosen.items() if name != "lr"}
    return replace(recipe, model=replace(recipe.model, **shared), first=with_chosen(phase, chosen))
