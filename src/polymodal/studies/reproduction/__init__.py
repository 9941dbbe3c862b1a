"""A study reproduced: every recipe × seed × dataset trained, measured and put into one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say
from polymodal.studies.reproduction.choosing import (
    run_trial,
    trials_of,
    with_best,
    with_earlier_choices,
)
from polymodal.studies.reproduction.options import Options
from polymodal.studies.reproduction.result_table import ResultTable
from polymodal.studies.reproduction.row_measuring import measure_row
from polymodal.studies.reproduction.tasks import (
    Task,
    cached_splits,
    compute_features,
    encoders,
    shared_runs,
    train_only,
)
from polymodal.studies.reproduction.workers import run_all
from polymodal.studies.result_files import Results, finding_lines, only, read_results, summary
from polymodal.studies.study import (
    QUICK,
    Recipe,
    Scale,
    Study,
    default_data,
    matching,
    scale_for,
    size_hint,
    study_named,
)


def reproduce(name: str, options: Options) -> Results:
    """Train every recipe with every seed on all the data, and write and print the table.

    Settings that have choices are tried first, with the first seed, and chosen by the validation split;
    or taken from an earlier result file, `chosen`. Killed, the same call resumes. What several studies
    share is trained once. With patterns for `rows`, only those rows are run and printed, and each joins
    the others in the result file at once. With `missing`, rows that the file has are not run again, even
    if their runs are deleted.
    """
    cached_splits.cache_clear()  # files may have changed since an earlier call
    study = study_named(name)
    scale = options.scale_name(study)
    scales = scales_by_data(name, study, options.data, scale)
    folder = options.folder / QUICK if scale == QUICK else options.folder
    rows = {data: fitting(matching(s.rows, options.rows), data) for data, s in scales.items()}
    tasks = tasks_of(name, rows, options, folder)
    labels = {task.recipe.label for task in tasks}
    path = options.out or folder / f"{name}.json"
    partial = bool(options.rows) or options.missing
    earlier = read_results(path) if path.exists() else None
    if options.missing and earlier:
        count, tasks = len(tasks), lacking(tasks, earlier, study)
        say(f"Of the {count} rows asked for, {path} lacks {len(tasks)}.")
    order = [row.label for s in scales.values() for row in s.rows]
    table = ResultTable(
        name=name, study=study, path=path, order=order, partial=partial, earlier=earlier
    )
    tasks = prepared(tasks, options)
    results = table.conclude(run_all(measure_row, tasks, options.processes, table.add))
    print_table(study, only(results, labels, scales) if partial else results, path, scale)
    return results


def scales_by_data(
    name: str, study: Study, data: Sequence[str], scale: str | None
) -> Mapping[str, Scale]:
    """The scale of each dataset, or an error before anything is trained."""
    data = data or default_data(study, scale)
    if not data:
        raise PolymodalError(f"{name} needs data: give --data, for instance folder:PATH.")
    scales = {one: scale_for(study, one, scale) for one in data}
    for hint in filter(None, (size_hint(s, one) for one, s in scales.items())):
        say(hint)
    return scales


def tasks_of(
    name: str, rows: Mapping[str, Sequence[Recipe]], options: Options, folder: Path
) -> list[Task]:
    """A task for each dataset, row and seed that is asked for."""
    return [
        Task(
            study=name,
            recipe=recipe,
            seed=seed,
            data=data,
            folder=folder,
            accelerator=options.accelerator,
            regions=options.regions,
            compile=options.compile,
        )
        for data, recipes in rows.items()
        for recipe in recipes
        for seed in options.seeds[: recipe.seeds]
    ]


def fitting(rows: Sequence[Recipe], data: str) -> list[Recipe]:
    """The rows that a dataset has all columns for; data that no row fits are an error."""
    if not any(row.needs for row in rows):
        return list(rows)
    there = set.intersection(*(set(split.columns) for split in cached_splits(data).values()))
    fit = [row for row in rows if there.issuperset(row.needs)]
    if not fit:
        needs = " or ".join(dict.fromkeys("+".join(row.needs) for row in rows))
        raise PolymodalError(
            f"No row is for {data}: rows need the columns {needs}, but it has {', '.join(sorted(there))}."
        )
    if left := [row.label for row in rows if row not in fit]:
        say(f"Left out, because {data} lacks a column that they need: {', '.join(left)}.")
    return fit


def lacking(tasks: Sequence[Task], earlier: Results, study: Study) -> list[Task]:
    """Tasks whose rows a result file does not have, or lacks a metric that the table has by now."""
    complete = {
        (row.label, row.data, row.seed)
        for row in earlier.rows
        if study.partly or row.metrics.keys() >= set(study.metrics)
    }
    return [t for t in tasks if (t.recipe.label, t.data, t.seed) not in complete]


def prepared(tasks: list[Task], options: Options) -> list[Task]:
    """Tasks whose settings are chosen, with the first seed; whose features are computed; and whose runs
    are trained where several rows need them."""
    if options.chosen:
        earlier = read_results(options.chosen)
        tasks = [with_earlier_choices(task, earlier) for task in tasks]
    for task, encoder in {(t.data, e): (t, e) for t in tasks for e in encoders(t.recipe)}.values():
        compute_features(task, encoder)
    while trials := trials_of(tasks, options.seeds[0]):  # first phases first
        results = run_all(run_trial, trials, options.processes)
        tasks = [with_best(task, results) for task in tasks]
    run_all(train_only, shared_runs(tasks), options.processes)
    return tasks


def print_table(study: Study, results: Results, path: Path, scale: str | None) -> None:
    """Print the table and its conclusion."""
    quick = ", quick path (these figures mean nothing)" if scale == QUICK else ""
    known = {metric for row in results.rows for metric in row.metrics}
    shown = [metric for metric in study.metrics if metric in known or not study.partly]
    table = summary(results, shown or None, together=True)
    table.print(f"{results.title}{quick}: {study.about}")
    for line in finding_lines(results.findings):
        say(line)
    say(f"Wrote {path}. Next: polymodal results {path}")
