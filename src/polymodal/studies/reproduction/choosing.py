"""Settings that are left to choice: tried with one seed, chosen by the validation split."""

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
    """How settings that could be chosen for a row score on the validation split."""

    data: str
    name: str
    settings: Mapping[str, Any]
    score: float


def trials_of(tasks: Sequence[Task], seed: int) -> list[Task]:
    """A task for each setting that a row may be given, with one seed; of first phases until they are
    settled, then of second ones."""
    found = []
    for task in tasks:
        phase = open_phase(task.recipe)
        if task.seed != seed or not phase.choices:
            continue
        names, values = zip(*phase.choices, strict=True)
        for combined in product(*values):
            chosen = dict(zip(names, combined, strict=True))
            trial = given(phase, chosen)  # which leaves the validation split to be judged by
            trial = replace(trial, training=replace(trial.training, final=False))
            found.append(replace(task, recipe=trial, chosen=chosen))
    return found


def open_phase(recipe: Recipe) -> Recipe:
    """The phase whose settings are to be chosen next: the first until it is settled."""
    return recipe.first if recipe.first and recipe.first.choices else recipe


def given(phase: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """One phase with its settings."""
    return replace(phase, model=replace(phase.model, **chosen), choices=())


def try_out(task: Task) -> Trial:
    """Train a row with some settings; its score is the validation's that selected the step."""
    metrics = Run(train(task, task.recipe)).metrics
    score = metrics["selected"][metrics["monitor"]]
    return Trial(data=task.data, name=task.recipe.label, settings=task.chosen, score=score)


def settled(task: Task, trials: Sequence[Trial]) -> Task:
    """A task with the settings of its row that scored best on the validation split."""
    own = [t for t in trials if (t.data, t.name) == (task.data, task.recipe.label)]
    if not own:
        return task
    best = max(own, key=lambda trial: trial.score)
    phase = prefix(task.recipe)
    chosen = {f"{phase}{name}": value for name, value in best.settings.items()}
    tried = {f"{phase}{json.dumps(t.settings)}": t.score for t in own}
    return replace(
        task,
        recipe=with_settings(task.recipe, best.settings),
        chosen={**task.chosen, **chosen},
        tried={**task.tried, **tried},
    )


def prefix(recipe: Recipe) -> str:
    """What stands before the settings of the phase that is open, in a result file."""
    return "second phase: " if recipe.first and open_phase(recipe) is recipe else ""


def as_before(task: Task, earlier: Results) -> Task:
    """A task with the settings that an earlier result file chose for its row; those of a second phase
    that it does not have stay open."""
    row = f"{task.recipe.label}, {task.data}"
    found = earlier.protocol.get("by_row", {}).get(row, {})
    recipe, chosen = task.recipe, found.get("chosen", {})
    while own := {name: f"{prefix(recipe)}{name}" for name, _ in open_phase(recipe).choices}:
        if not set(own.values()) <= chosen.keys():
            break
        recipe = with_settings(recipe, {name: chosen[key] for name, key in own.items()})
    if recipe is task.recipe and own:
        raise PolymodalError(
            f"The result file of {earlier.study} has no {', '.join(own)} for {row}. Leave --chosen "
            "out to choose again, or give the file of a study that chose it on the same data."
        )
    return replace(task, recipe=recipe, chosen=chosen, tried=found.get("tried", {}))


def with_settings(recipe: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with settings for the phase that is open. The second phase takes over those of the
    first, but for the rate."""
    phase = open_phase(recipe)
    if phase is recipe:
        return given(recipe, chosen)
    shared = {name: value for name, value in chosen.items() if name != "lr"}
    return replace(recipe, model=replace(recipe.model, **shared), first=given(phase, chosen))
