"""A study made again: every recipe × seed × dataset trained, measured and put into one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polymodal import jobs
from polymodal.errors import PolymodalError
from polymodal.reproduction.choosing import as_before, settled, trials_of, try_out
from polymodal.reproduction.crew import run_all
from polymodal.reproduction.making import Made, make
from polymodal.reproduction.tasks import (
    Accelerator,
    Task,
    encoders,
    features_of,
    shared,
    train_alone,
)
from polymodal.results import Results, read, summary, write
from polymodal.studies import Study, named, rows_for


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
    chosen: Path | None = None,
) -> Results:
    """Train every recipe with every seed on all the data, and write and print the table.

    Settings that are left to choice are tried first, with the first seed, and chosen by the
    validation split; or taken from an earlier result file, `chosen`. Killed, the same call goes on.
    What several studies share is trained once.
    """
    study = named(name)
    where = tuple(data) or ((study.quick_data,) if quick else study.data)
    if not where:
        raise PolymodalError(f"{name} needs data: give --data, for instance folder:PATH.")
    if study.drawn and any(one.startswith("folder:") for one in where):
        raise PolymodalError(
            f"{name} needs the objects and boxes of a drawn world, which a folder does not have. "
            f"Leave --data out, or give a world such as {study.quick_data}."
        )
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
    if chosen:
        earlier = read(chosen)
        tasks = [as_before(task, earlier) for task in tasks]
    for one, encoder in dict.fromkeys((t.data, e) for t in tasks for e in encoders(t.recipe)):
        features_of(one, encoder, folder, accelerator)
    while trials := trials_of(tasks, seeds[0]):  # first phases first
        scored = run_all(try_out, trials, processes)
        tasks = [settled(task, scored) for task in tasks]
    run_all(train_alone, shared(tasks), processes)
    results = collect(name, study, run_all(make, tasks, processes))
    path = out or folder / f"{name}.json"
    write(path, results)
    title = f"{name}, quick path (these figures mean nothing)" if quick else name
    summary(results, study.metrics or None).print(f"{title}: {study.about}")
    jobs.say(f"Wrote {path}. Next: polymodal results {path}")
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
