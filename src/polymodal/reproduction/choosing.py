"""Settings that are left to choice: tried with one seed, chosen by the validation split."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from polymodal import jobs
from polymodal.reproduction.tasks import Task, train
from polymodal.runs import Run
from polymodal.studies import Recipe


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
        choices = dict(open_choices(task.recipe))
        if task.seed != seed or not choices:
            continue
        for combined in product(*choices.values()):
            chosen = dict(zip(choices, combined, strict=True))
            tried = with_settings(task.recipe, chosen)
            tried = tried.first if first_is_open(task.recipe) and tried.first else tried
            found.append(replace(task, recipe=tried, chosen=chosen))
    return found


def first_is_open(recipe: Recipe) -> bool:
    """Whether settings of the first of two phases are still to be chosen."""
    return bool(recipe.first and recipe.first.choices)


def open_choices(recipe: Recipe) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """The settings that are to be chosen next."""
    return recipe.first.choices if recipe.first and recipe.first.choices else recipe.choices


def try_out(task: Task) -> Trial:
    """Train a row with some settings; its score is the validation's that selected the step."""
    jobs.say(str(task))
    metrics = Run(train(task, task.recipe)).metrics
    score = metrics["selected"][metrics["monitor"]]
    return Trial(data=task.data, name=task.recipe.name, settings=task.chosen, score=score)


def settled(task: Task, trials: Sequence[Trial]) -> Task:
    """A task with the settings of its row that scored best on the validation split."""
    own = [t for t in trials if (t.data, t.name) == (task.data, task.recipe.name)]
    if not own:
        return task
    best = max(own, key=lambda trial: trial.score)
    second = bool(task.recipe.first) and not first_is_open(task.recipe)
    phase = "second phase: " if second else ""
    chosen = {f"{phase}{name}": value for name, value in best.settings.items()}
    tried = {f"{phase}{json.dumps(t.settings)}": t.score for t in own}
    return replace(
        task,
        recipe=with_settings(task.recipe, best.settings),
        chosen={**task.chosen, **chosen},
        tried={**task.tried, **tried},
    )


def with_settings(recipe: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with settings for the phase that is open. The second phase takes over those of the
    first, but for the rate."""
    if not first_is_open(recipe) or recipe.first is None:
        return replace(recipe, model=replace(recipe.model, **chosen), choices=())
    shared = {name: value for name, value in chosen.items() if name != "lr"}
    first = with_settings(recipe.first, chosen)
    return replace(recipe, model=replace(recipe.model, **shared), first=first)
