"""A study made again: every recipe × seed × dataset trained, measured and put into one table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say
from polymodal.runs import jobs
from polymodal.studies.reproduction.choosing import as_before, settled, trials_of, try_out
from polymodal.studies.reproduction.joining import common, gathered, joined
from polymodal.studies.reproduction.making import Made, make
from polymodal.studies.reproduction.tasks import (
    Accelerator,
    Task,
    encoders,
    features_of,
    kept_open,
    shared,
    train_alone,
)
from polymodal.studies.reproduction.workers import run_all
from polymodal.studies.result_files import Results, only, read, summary, told, write
from polymodal.studies.study import SMALL, Study, advice, brought, matching, named, rows_for


def reproduce(
    name: str,
    *,
    data: Sequence[str] = (),
    rows: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    quick: bool = False,
    small: bool = False,
    at_scale: bool = False,
    folder: Path = Path("runs/reproduce"),
    out: Path | None = None,
    accelerator: Accelerator = "auto",
    processes: int = 1,
    chosen: Path | None = None,
    missing: bool = False,
    compile: bool = False,
) -> Results:
    """Train every recipe with every seed on all the data, and write and print the table.

    Settings that are left to choice are tried first, with the first seed, and chosen by the
    validation split; or taken from an earlier result file, `chosen`. Killed, the same call goes on.
    What several studies share is trained once. With patterns for `rows`, those rows alone are made,
    and printed, and each joins the others in the result file as it comes. With `missing`, rows that the
    file has are not made again, though their runs be gone.
    """
    kept_open.cache_clear()  # what an earlier call had open may have changed
    study = named(name)
    where = tuple(data) or ((study.quick_data,) if quick else study.data)
    check(name, study, where, seeds, processes)
    for word in filter(None, (advice(study, one) for one in where if small)):
        say(word)
    folder = folder / "quick" if quick else folder
    recipes = {
        one: rows_for(study, one, quick=quick, small=small, at_scale=at_scale) for one in where
    }
    tasks = [
        Task(
            study=name,
            recipe=r,
            seed=seed,
            data=one,
            folder=folder,
            accelerator=accelerator,
            compile=compile,
        )
        for one, all_rows in recipes.items()
        for r in matching(all_rows, rows)
        for seed in seeds[: r.seeds]
    ]
    asked = {task.recipe.label for task in tasks}
    path = out or folder / f"{name}.json"
    joining = bool(rows) or missing
    earlier = read(path) if joining and path.exists() else None
    if missing and earlier:
        every, tasks = len(tasks), lacking(tasks, earlier, study)
        say(f"Of the {every} rows asked for, {path} lacks {len(tasks)}.")
    order = [row.label for all_rows in recipes.values() for row in all_rows]
    made: list[Made] = []

    def table(made: Sequence[Made]) -> Results:
        if earlier:
            found = joined(earlier, collect(name, made), order) if made else earlier
        else:
            found = collect(name, made)
        return with_paper(gathered(found, study.gathers, path.parent), study)

    def add(one: Made) -> None:
        made.append(one)
        if joining:  # so that a command that is cut short leaves what it has made
            write(path, table(made))

    tasks = prepared(tasks, seeds[0], processes, chosen)
    results = table(run_all(make, tasks, processes, add))
    if study.conclusion:
        results = replace(results, findings=study.conclusion(results.rows, path))
    write(path, results)
    tell(study, only(results, asked, where) if joining else results, path, quick)
    return results


def lacking(tasks: Sequence[Task], earlier: Results, study: Study) -> list[Task]:
    """Tasks whose rows a result file does not have, or not with every metric that the table has by now."""
    there = {
        (row.label, row.data, row.seed)
        for row in earlier.rows
        if row.metrics.keys() >= set(study.metrics)
    }
    return [t for t in tasks if (t.recipe.label, t.data, t.seed) not in there]


def prepared(tasks: list[Task], seed: int, processes: int, chosen: Path | None) -> list[Task]:
    """Tasks whose settings are chosen, with one seed, whose features are computed, and whose runs are
    trained where several rows need them."""
    if chosen:
        earlier = read(chosen)
        tasks = [as_before(task, earlier) for task in tasks]
    for task, encoder in {(t.data, e): (t, e) for t in tasks for e in encoders(t.recipe)}.values():
        features_of(task.data, encoder, task.folder, task.accelerator)
    while trials := trials_of(tasks, seed):  # first phases first
        scored = run_all(try_out, trials, processes)
        tasks = [settled(task, scored) for task in tasks]
    run_all(train_alone, shared(tasks), processes)
    return tasks


def tell(study: Study, results: Results, path: Path, quick: bool) -> None:
    """Print the table and what was found of it."""
    title = results.title + (", quick path (these figures mean nothing)" if quick else "")
    summary(results, study.metrics or None, together=True).print(f"{title}: {study.about}")
    for line in told(results.findings):
        say(line)
    say(f"Wrote {path}. Next: polymodal results {path}")


def check(
    name: str, study: Study, data: Sequence[str], seeds: Sequence[int], processes: int
) -> None:
    """Refuse what cannot be made, before anything is trained."""
    if not data:
        raise PolymodalError(f"{name} needs data: give --data, for instance folder:PATH.")
    if study.drawn and any(map(brought, data)):
        raise PolymodalError(
            f"{name} needs the objects and boxes of a drawn world, which a folder does not have. "
            f"Leave --data out, or give a world such as {study.quick_data}."
        )
    if not seeds:
        raise PolymodalError("--seeds needs at least one seed, such as --seeds 0.")
    if processes < 1:
        raise PolymodalError(f"--processes must be at least 1, not {processes}.")


def with_paper(results: Results, study: Study) -> Results:
    """Results with the paper's figures, if these are of any of the same data and no smaller rows."""
    own = any(row.data.startswith(study.paper_on) and row.block != SMALL for row in results.rows)
    return replace(results, paper=study.paper if own else ())


def collect(name: str, made: Sequence[Made]) -> Results:
    """The result file of rows, each of which knows what it was trained on and how."""
    by_row = {f"{one.row.label}, {one.row.data}": one.metrics for one in made}
    return Results(
        study=name,
        command=jobs.command_line(),
        hardware=common({row: found["hardware"] for row, found in by_row.items()}),
        versions=common({row: found["versions"] for row, found in by_row.items()}),
        protocol=common({row: found["protocol"] for row, found in by_row.items()}),
        rows=[one.row for one in made],
    )
