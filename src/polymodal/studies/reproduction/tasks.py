"""One row of a table to train: its recipe and data, the folder of its run, and its training by phases."""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from polymodal.base.config import to_settings
from polymodal.base.files import fingerprint
from polymodal.base.hardware import on_gpu
from polymodal.runs import feature_building, jobs
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
    regions: Path | None = None
    """The regions of the data, for recipes that take them."""
    compile: bool = False
    """Whether encoders are compiled, where training is long enough for it to pay."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings that were chosen, or are tried."""
    tried: Mapping[str, float] = field(default_factory=dict)
    """The score of each choice on the validation split."""

    def __str__(self) -> str:
        chosen = "".join(f", {name} {value:g}" for name, value in self.chosen.items())
        return f"{self.study}: {self.recipe.label}{chosen}, seed {self.seed}, {self.data}"


def train(task: Task, recipe: Recipe) -> Path:
    """The run of a recipe, trained if it is not there; a second phase starts from the first."""
    record = recipe.training.record and on_gpu(task.accelerator)  # elsewhere it does nothing
    training = replace(recipe.training, seed=task.seed, accelerator=task.accelerator, record=record)
    training = replace(training, compile=training.compile or task.compile)
    run = run_folder(task, recipe)
    jobs.train(
        recipe.system,
        recipe.model,
        training,
        data=task.data,
        features=features_folder(task, recipe.encoder) if recipe.encoder else None,
        regions=task.regions if recipe.regions else None,
        init=train(task, recipe.first) if recipe.first else None,
        parts={part: train(with_first_seed(task), phase) for part, phase in recipe.parts},
        run=run,
        opening=cached_splits,
        wait=True,
    )
    Run(run).tidy()
    gc.collect()  # trainer and system refer to each other, and hold memory on the device
    return run


@lru_cache(maxsize=2)
def cached_splits(
    data: str,
    *,
    features: Path | None = None,
    regions: Path | None = None,
    skip_bad: bool = False,
) -> Mapping[str, Any]:
    """The splits of a dataset, opened once for all runs that a process trains and measures."""
    return jobs.open_data(data, features=features, regions=regions, skip_bad=skip_bad)


def with_first_seed(task: Task) -> Task:
    """The task of what rows share, such as a judge: with the first seed, and so the same for all."""
    return replace(task, seed=0)


def shared_runs(tasks: Sequence[Task]) -> list[Task]:
    """Tasks whose runs several rows need, each run once: they are trained before the rows, because two
    processes may not train one run."""
    runs: dict[Path, list[Task]] = {}
    for task in tasks:
        runs.setdefault(run_folder(task, task.recipe), []).append(task)
    repeated = [same[0] for same in runs.values() if len(same) > 1]
    others = [
        replace(with_first_seed(task), recipe=recipe)
        for task in tasks
        for recipe in other_systems(task.recipe)
    ]
    return list({run_folder(task, task.recipe): task for task in repeated + others}.values())


def other_systems(recipe: Recipe) -> list[Recipe]:
    """What a row needs besides its own phases: parts of its model, and the probe's references."""
    return [*(phase for _, phase in recipe.parts), *recipe.references]


def train_only(task: Task) -> None:
    """Train a task's recipe and measure nothing."""
    train(task, task.recipe)


def run_folder(task: Task, recipe: Recipe) -> Path:
    """The folder of a recipe's run: the same for all studies that share the recipe and its data."""
    given = [str(task.regions)] if task.regions and recipe.regions else []
    key = fingerprint([task.data, run_settings(recipe), *given])[:8]
    return task.folder / "runs" / f"{recipe.system}-{key}-{task.seed}"


def run_settings(recipe: Recipe) -> list[Any]:
    """All settings of a recipe's run but its seed; its name and what is measured are no part of them."""
    settings: list[Any] = [
        recipe.system,
        recipe.encoder,
        to_settings(recipe.model),
        to_settings(recipe.training),
    ]
    settings += [run_settings(recipe.first)] if recipe.first else []
    return settings + [[part, run_settings(phase)] for part, phase in recipe.parts]


def encoders(recipe: Recipe) -> list[str]:
    """The frozen encoders whose features a recipe needs, in either phase."""
    encoder = [recipe.encoder] if recipe.encoder else []
    return encoder + (encoders(recipe.first) if recipe.first else [])


def features_folder(task: Task, encoder: str) -> Path:
    """The folder of the features of a task's data."""
    return task.folder / f"features-{fingerprint([task.data, encoder])}"


def compute_features(task: Task, encoder: str) -> None:
    """Compute the features of a task's data once for all rows."""
    device = "cuda" if on_gpu(task.accelerator) else "cpu"
    out = features_folder(task, encoder)
    feature_building.compute_features(task.data, out, encoder, device=device, wait=True)
