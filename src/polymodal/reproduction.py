"""A study made again: every recipe × seed × dataset trained, measured and put into one table."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeVar

from polymodal import jobs, loading
from polymodal.config import to_settings
from polymodal.errors import PolymodalError
from polymodal.files import fingerprint
from polymodal.results import Results, Row, summary, write
from polymodal.runs import Run
from polymodal.studies import Recipe, Study, named, rows_for

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
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings that were chosen, or are tried."""
    tried: Mapping[str, float] = field(default_factory=dict)
    """What each choice scored on the validation split."""

    def __str__(self) -> str:
        told = "".join(f", {name} {value:g}" for name, value in self.chosen.items())
        return f"{self.study}: {self.recipe.name}{told}, seed {self.seed}, {self.data}"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How settings that could be chosen for a row score on the validation split."""

    data: str
    name: str
    settings: Mapping[str, Any]
    score: float


@dataclass(frozen=True, kw_only=True)
class Made:
    """A row and how it came about."""

    row: Row
    metrics: Mapping[str, Any]


def reproduce(
    name: str,
    *,
    data: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    quick: bool = False,
    at_scale: bool = False,
    folder: Path = Path("runs/reproduce"),
    out: Path | None = None,
    accelerator: Accelerator = "auto",
    processes: int = 1,
) -> Results:
    """Train every recipe with every seed on all the data, and write and print the table.

    Settings that are left to choice are tried first, with the first seed, and chosen by the
    validation split. Killed, the same call goes on. What several studies share is trained once.
    """
    study = named(name)
    where = tuple(data) or ((study.quick_data,) if quick else study.data)
    if not where:
        raise PolymodalError(f"{name} needs data: give --data, for instance folder:PATH.")
    if not seeds:
        raise PolymodalError("--seeds needs at least one seed, such as --seeds 0.")
    if processes < 1:
        raise PolymodalError(f"--processes must be at least 1, not {processes}.")
    folder = folder / "quick" if quick else folder
    tasks = [
        Task(study=name, recipe=r, seed=seed, data=one, folder=folder, accelerator=accelerator)
        for one in where
        for r in rows_for(study, one, quick=quick, at_scale=at_scale)
        for seed in seeds
    ]
    for one, encoder in dict.fromkeys((t.data, e) for t in tasks for e in encoders(t.recipe)):
        features_of(one, encoder, folder, accelerator)
    trials = run_all(try_out, trials_of(tasks, seeds[0]), processes)
    results = collect(name, study, run_all(make, [settled(t, trials) for t in tasks], processes))
    write(out or folder / f"{name}.json", results)
    title = f"{name}, quick path (these figures mean nothing)" if quick else name
    summary(results, study.metrics or None).print(f"{title}: {study.about}")
    return results


def collect(name: str, study: Study, made: Sequence[Made]) -> Results:
    """The result file of rows, each of which knows what it was trained on and how."""
    by_row = {f"{one.row.name}, {one.row.data}": one.metrics for one in made}
    return Results(
        study=name,
        command=jobs.command_line(),
        hardware=common({row: found["hardware"] for row, found in by_row.items()}),
        versions=common({row: found["versions"] for row, found in by_row.items()}),
        protocol=common({row: found["protocol"] for row, found in by_row.items()}),
        rows=[one.row for one in made],
        paper=study.paper,
    )


T = TypeVar("T")


def run_all(work: Callable[[Task], T], tasks: Sequence[Task], processes: int) -> list[T]:
    """Work on every task and give what comes of it in their order; several at a time where asked."""
    if processes == 1:
        return [work(task) for task in tasks]
    context = get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(processes, mp_context=context, initializer=hush) as pool:
        waiting = {pool.submit(work, task): task for task in tasks}
        follow(waiting)
        return [future.result() for future in waiting]


def follow(waiting: Mapping["Future[Any]", Task]) -> None:
    """Say what is finished as it comes; what failed is told at the end, when the rest is safe."""
    failed: list[str] = []
    for place, future in enumerate(as_completed(waiting), 1):
        error = future.exception()
        label = str(waiting[future])
        if error:
            failed.append(f"{label}: {error}")
        jobs.say(f"[{place} of {len(waiting)}] {label}{' FAILED' if error else ''}")
    if failed:
        raise PolymodalError(
            f"{len(failed)} of {len(waiting)} rows failed; the others are kept, and the same command "
            "goes on:\n  " + "\n  ".join(failed)
        )


def hush() -> None:
    """A process of many: one thread, and no bars that would tear each other."""
    import torch

    torch.set_num_threads(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)


# Choosing


def trials_of(tasks: Sequence[Task], seed: int) -> list[Task]:
    """A task for each setting that a row may be given, with one seed: first phases alone."""
    found = []
    for task in tasks:
        first = task.recipe.first or task.recipe
        if task.seed == seed and first.choices:
            names, values = zip(*first.choices, strict=True)
            for combined in product(*values):
                chosen = dict(zip(names, combined, strict=True))
                found.append(replace(task, recipe=with_settings(first, chosen), chosen=chosen))
    return found


def try_out(task: Task) -> Trial:
    """Train a row with some settings; its score is the validation's that selected the step."""
    jobs.say(str(task))
    metrics = Run(train(task, task.recipe)).metrics
    score = metrics["selected"][metrics["monitor"]]
    return Trial(data=task.data, name=task.recipe.name, settings=task.chosen, score=score)


def settled(task: Task, trials: Sequence[Trial]) -> Task:
    """A task with the settings of its row that scored best on the validation split, in both phases."""
    own = [t for t in trials if (t.data, t.name) == (task.data, task.recipe.name)]
    if not own:
        return task
    best = max(own, key=lambda trial: trial.score)
    tried = {json.dumps(t.settings): t.score for t in own}
    recipe = with_settings(task.recipe, best.settings)
    return replace(task, recipe=recipe, chosen=best.settings, tried=tried)


def with_settings(recipe: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with some settings; a rate is that of the phase in which it was chosen."""
    first = with_settings(recipe.first, chosen) if recipe.first else None
    own = {k: v for k, v in chosen.items() if first is None or k != "lr"}
    return replace(recipe, model=replace(recipe.model, **own), first=first, choices=())


# Making


def make(task: Task) -> Made:
    """Train a row, phase after phase, and measure it."""
    jobs.say(str(task))
    run = train(task, task.recipe)
    metrics = Run(run).metrics
    study = named(task.study)
    scores = measure(task, run, study.probe) if study.probe else metrics["scores"]["test"]
    scores = by_folds(scores) if study.folds else scores
    row = Row(name=task.recipe.name, data=task.data, seed=task.seed, metrics=scores)
    if task.chosen:
        told = {"chosen": dict(task.chosen), "tried": dict(task.tried)}
        metrics = {**metrics, "protocol": {**metrics["protocol"], **told}}
    return Made(row=row, metrics=metrics)


def train(task: Task, recipe: Recipe) -> Path:
    """The run of a recipe, trained unless it is there; of two phases the second starts from the first."""
    training = replace(recipe.training, seed=task.seed, accelerator=task.accelerator)
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
        run=run,
    )
    Run(run).tidy()
    return run


def place(task: Task, recipe: Recipe) -> Path:
    """Where the run of a recipe lies: the same for all studies that share the recipe and its data."""
    key = fingerprint([task.data, settings(recipe)])[:8]
    return task.folder / "runs" / f"{recipe.system}-{key}-{task.seed}"


def settings(recipe: Recipe) -> list[Any]:
    """All that tells a recipe from another, but its name and its seed."""
    own = [recipe.system, recipe.encoder, to_settings(recipe.model), to_settings(recipe.training)]
    return [*own, settings(recipe.first)] if recipe.first else own


def measure(task: Task, run: Path, probe: Callable[..., dict[str, float]]) -> dict[str, float]:
    """What a study asks of a trained system."""
    import torch

    gpu = task.accelerator != "cpu" and torch.cuda.is_available()
    system = loading.load(run, "cuda" if gpu else "cpu")
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


def encoders(recipe: Recipe) -> list[str]:
    """The frozen encoders whose features a recipe needs, in either phase."""
    own = [recipe.encoder] if recipe.encoder else []
    return own + (encoders(recipe.first) if recipe.first else [])


def features_place(data: str, encoder: str, folder: Path) -> Path:
    """Where the features of a dataset lie."""
    return folder / f"features-{fingerprint([data, encoder])}"


def features_of(data: str, encoder: str, folder: Path, accelerator: Accelerator) -> None:
    """Compute the features of a dataset once for all rows."""
    import torch

    gpu = accelerator != "cpu" and torch.cuda.is_available()
    out = features_place(data, encoder, folder)
    jobs.compute_features(data, out, encoder, device="cuda" if gpu else "cpu")


def common(by_row: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What all rows share; what differs is listed by row, so that nobody overlooks it."""
    every = list(by_row.values())
    shared = {k: v for k, v in every[0].items() if all(p.get(k) == v for p in every)}
    shared.pop("seed", None)
    differing = {
        name: {k: v for k, v in protocol.items() if k not in shared and k != "seed"}
        for name, protocol in by_row.items()
    }
    return {**shared, **({"by_row": differing} if any(differing.values()) else {})}
