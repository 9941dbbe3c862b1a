"""One row of a table: what it is made of, where its runs lie, and its training, phase after phase."""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from polymodal.base.config import to_settings
from polymodal.base.files import fingerprint
from polymodal.base.hardware import on_gpu
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.studies.study import Recipe

Accelerator = Literal["auto", "cpu", "gpu"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One row of a table: a recipe, a seed and a dataset."""

    study: str
    recipe: Recipe
    seed: int
    data: str
    folder: Path
    accelerator: Accelerator
    compile: bool = False
    """Whether encoders are compiled, where training lasts long enough for it to pay."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings that were chosen, or are tried."""
    tried: Mapping[str, float] = field(default_factory=dict)
    """What each choice scored on the validation split."""

    def __str__(self) -> str:
        told = "".join(f", {name} {value:g}" for name, value in self.chosen.items())
        return f"{self.study}: {self.recipe.label}{told}, seed {self.seed}, {self.data}"


def train(task: Task, recipe: Recipe) -> Path:
    """The run of a recipe, trained unless it is there; of two phases the second starts from the first."""
    record = recipe.training.record and on_gpu(task.accelerator)  # elsewhere it does nothing
    training = replace(recipe.training, seed=task.seed, accelerator=task.accelerator, record=record)
    training = replace(training, compile=training.compile or task.compile)
    run = place(task, recipe)
    features = None
    if recipe.encoder:
        features = features_place(task.data, recipe.encoder, task.folder)
    jobs.train(
        recipe.system,
        recipe.model,
        training,
        data=task.data,
        features=features,
        init=train(task, recipe.first) if recipe.first else None,
        parts={part: train(with_first_seed(task), own) for part, own in recipe.parts},
        run=run,
        opening=kept_open,
    )
    Run(run).tidy()
    gc.collect()  # trainer and system hold each other, and with them what lies on the device
    return run


@lru_cache(maxsize=2)
def kept_open(
    data: str, *, features: Path | None = None, skip_bad: bool = False
) -> Mapping[str, Any]:
    """The splits of a dataset, opened once for all runs that a process trains and measures."""
    return jobs.open_data(data, features=features, skip_bad=skip_bad)


def with_first_seed(task: Task) -> Task:
    """The task of what rows share, such as a judge: with the first seed, and so the same for all."""
    return replace(task, seed=0)


def shared(tasks: Sequence[Task]) -> list[Task]:
    """Tasks whose runs several rows need, each run once: they are trained before the rows are made,
    since two processes may not train one run."""
    runs: dict[Path, list[Task]] = {}
    for task in tasks:
        runs.setdefault(place(task, task.recipe), []).append(task)
    common = [replace(with_first_seed(t), recipe=r) for t in tasks for r in shared_by(t.recipe)]
    found = [own[0] for own in runs.values() if len(own) > 1] + common
    return list({place(task, task.recipe): task for task in found}.values())


def shared_by(recipe: Recipe) -> list[Recipe]:
    """What a row needs beside its own phases: parts of its model, and the system of its probe."""
    return [*(own for _, own in recipe.parts), *([recipe.beside] if recipe.beside else [])]


def train_alone(task: Task) -> None:
    """Train what a task names, and measure nothing."""
    train(task, task.recipe)


def place(task: Task, recipe: Recipe) -> Path:
    """Where the run of a recipe lies: the same for all studies that share the recipe and its data."""
    key = fingerprint([task.data, settings(recipe)])[:8]
    return task.folder / "runs" / f"{recipe.system}-{key}-{task.seed}"


def settings(recipe: Recipe) -> list[Any]:
    """All that tells a recipe from another, but its name and its seed."""
    own: list[Any] = [
        recipe.system,
        recipe.encoder,
        to_settings(recipe.model),
        to_settings(recipe.training),
    ]
    own += [settings(recipe.first)] if recipe.first else []
    return own + [[part, settings(phase)] for part, phase in recipe.parts]


def encoders(recipe: Recipe) -> list[str]:
    """The frozen encoders whose features a recipe needs, in either phase."""
    own = [recipe.encoder] if recipe.encoder else []
    return own + (encoders(recipe.first) if recipe.first else [])


def features_place(data: str, encoder: str, folder: Path) -> Path:
    """Where the features of a dataset lie."""
    return folder / f"features-{fingerprint([data, encoder])}"


def features_of(data: str, encoder: str, folder: Path, accelerator: Accelerator) -> None:
    """Compute the features of a dataset once for all rows."""
    out = features_place(data, encoder, folder)
    jobs.compute_features(data, out, encoder, device="cuda" if on_gpu(accelerator) else "cpu")
