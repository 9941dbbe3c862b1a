"""Studies: their recipes are whole, the quick path runs and goes on, protocols that differ are said."""

from dataclasses import replace

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.studies import result_files as results
from polymodal.studies.reproduction import reproduce
from polymodal.studies.reproduction.choosing import (
    Trial,
    as_before,
    settled,
    trials_of,
    with_settings,
)
from polymodal.studies.reproduction.tasks import Task, place, shared
from polymodal.studies.result_files import Results, read
from polymodal.studies.seeds.gaussian import DRAWN_1, FEW_1, FEW_2, TABLE_1
from polymodal.studies.study import matching, named, names, rows_for

PHOTOS = "folder:photos"


def test_every_study_has_recipes_a_quick_path_and_a_line():
    tables = {
        f"gaussian/{name}" for name in ("table1", "table2", "table3", "extent", "uncertainty")
    }
    assert {"vse/coco", "vse/negatives"} | tables <= set(names())
    for name in names():
        study = named(name)
        assert study.about
        labels = [r.label for r in study.recipes]
        for rows in (study.quick, study.at_scale or study.recipes):
            assert [r.label for r in rows] == labels
        assert [r.label for r in study.worlds] == [
            label for label in labels if label in {r.label for r in study.worlds}
        ]  # the same, or in the same order some of them
        assert len({r.label for r in study.recipes}) == len(study.recipes)


def test_an_unknown_study_names_the_nearest():
    with pytest.raises(
        PolymodalError, match=r"Unknown study 'vse/cocco'\. Did you mean 'vse/coco'"
    ):
        reproduce("vse/cocco")


def test_data_must_be_given_where_the_study_has_none():
    with pytest.raises(PolymodalError, match="vse/coco needs data"):
        reproduce("vse/coco")


@pytest.mark.parametrize("data", [PHOTOS, "cub:CUB.zip,splits=xlsa17/CUB"])
def test_a_study_of_drawn_truth_refuses_files_before_it_trains(data):
    with pytest.raises(PolymodalError, match="gaussian/extent needs the objects and boxes"):
        reproduce("gaussian/extent", data=(data,))


def test_seeds_and_processes_are_at_least_one():
    with pytest.raises(PolymodalError, match="at least one seed"):
        reproduce("vse/negatives", quick=True, seeds=())
    with pytest.raises(PolymodalError, match="--processes must be at least 1, not 0"):
        reproduce("vse/negatives", quick=True, processes=0)


@pytest.mark.parametrize(
    ("table", "first", "last"), [("table1", 446.7, 453.1), ("table2", 478.6, 483.4)]
)
def test_the_papers_sums_are_those_of_its_recalls(table, first, last):
    rows = {row.name: row.metrics for row in named(f"gaussian/{table}").paper}
    assert list(rows) == list(TABLE_1)
    assert rows["VSE++"]["rsum"] == pytest.approx(first)
    assert rows["GCIE ellipsoidal wasserstein"]["rsum"] == pytest.approx(last)


@pytest.mark.parametrize("table", ["table1", "table2"])
@pytest.mark.parametrize("data", [PHOTOS, "scenes"])
def test_all_rows_of_a_table_have_the_same_budget(table, data):
    recipes = rows_for(named(f"gaussian/{table}"), data)
    assert len({recipe.training for recipe in recipes}) == 1
    alike = [r for r in recipes if r.name != "GIE spherical mahalanobis" or table == "table1"]
    assert len({r.choices for r in alike}) <= 2  # of VSE++ and of the Gaussian rows
    assert len({(r.model.embed_dim, r.model.hidden, r.model.lr) for r in alike}) == 1


def test_at_scale_the_rates_and_epochs_are_the_papers():
    one, two = (rows_for(named(f"gaussian/table{n}"), PHOTOS, at_scale=True) for n in (1, 2))
    for row in one:
        assert (row.training.epochs, row.model.lr, row.model.decay_at) == (30, 2e-4, 0.5)
        assert (row.model.embed_dim, row.model.hidden, row.model.word_dim) == (1024, 1024, 300)
        assert (row.model.margin, row.model.negatives) == (0.2, "hardest")
    for first, row in zip(one, two, strict=True):
        assert row.first == first
        assert row.model.finetune and row.training.epochs == 15
        assert row.model.lr == pytest.approx(2e-6 if "GIE spherical" in row.name else 2e-5)


def test_worlds_and_folders_have_their_own_rows():
    study = named("gaussian/table1")
    assert rows_for(study, "scenes,size=32") == DRAWN_1
    assert rows_for(study, PHOTOS) == FEW_1
    for files in ("cub:a,splits=b", "awa2:a,splits=b", "sun:a,splits=b"):
        assert rows_for(study, files) == FEW_1
    assert rows_for(study, PHOTOS, quick=True) == study.quick


def test_small_rows_are_refused_where_there_are_none_or_others_are_asked_for():
    with pytest.raises(PolymodalError, match="has no small rows: leave --small out"):
        rows_for(named("gaussian/table1"), PHOTOS, small=True)
    with pytest.raises(PolymodalError, match="for data of your own, and birds,size=64 is drawn"):
        rows_for(named("zeroshot/cub"), "birds,size=64", small=True)
    with pytest.raises(PolymodalError, match="exclude each other"):
        rows_for(named("zeroshot/cub"), PHOTOS, small=True, quick=True)


def task(tmp_path, recipe, data="scenes", study="gaussian/table1", seed=0):
    return Task(
        study=study, recipe=recipe, seed=seed, data=data, folder=tmp_path, accelerator="cpu"
    )


def test_a_recipe_that_studies_share_has_one_run(tmp_path):
    row, other = FEW_1[-1], FEW_1[-2]
    here = place(task(tmp_path, row), row)
    assert here == place(task(tmp_path, row, study="gaussian/table3"), row)
    assert here != place(task(tmp_path, row, data="folder:other"), row)
    assert here != place(task(tmp_path, other), other)
    lower = with_settings(row, {"log_var_start": -2.0})
    assert here != place(task(tmp_path, lower), lower)


def scored(trials, *scores):
    """Trials with these scores on validation."""
    return [
        Trial(data=t.data, name=t.recipe.name, settings=t.chosen, score=score)
        for t, score in zip(trials, scores, strict=True)
    ]


def test_settings_are_tried_with_one_seed_phase_after_phase(tmp_path):
    second = FEW_2[-1]
    tasks = [task(tmp_path, second, seed=seed) for seed in (0, 1)]
    trials = trials_of(tasks, seed=0)
    assert [t.recipe.first for t in trials] == [None] * 4
    tried = [(t.recipe.model.log_var_start, t.recipe.model.scale) for t in trials]
    assert tried == [(-1.0, 0.3), (-1.0, 1.0), (-2.0, 0.3), (-2.0, 1.0)]
    elsewhere = Trial(data="other", name=second.name, settings={"log_var_start": 5.0}, score=9.0)
    tasks = [settled(one, [*scored(trials, 3.0, 1.0, 7.0, 2.0), elsewhere]) for one in tasks]
    for one in tasks:
        assert one.chosen == {"log_var_start": -2.0, "scale": 0.3}
        assert one.recipe.model.log_var_start == one.recipe.first.model.log_var_start == -2.0
        assert one.recipe.model.scale == 0.3
        assert one.recipe.first == trials[2].recipe  # so that it is trained no second time
    trials = trials_of(tasks, seed=0)
    assert [t.recipe.model.lr for t in trials] == [1e-4, 3e-4]
    assert {t.recipe.first for t in trials} == {tasks[0].recipe.first}
    last = settled(tasks[1], scored(trials, 8.0, 4.0))
    assert last.chosen == {"log_var_start": -2.0, "scale": 0.3, "second phase: lr": 1e-4}
    assert list(last.tried.values()) == [3.0, 1.0, 7.0, 2.0, 8.0, 4.0]
    assert not trials_of([last], seed=1)
    assert settled(last, []) == last


def chose(task, **chosen):
    """A result file in which these settings were chosen for the row of a task."""
    by_row = {f"{task.recipe.name}, {task.data}": {"chosen": chosen, "tried": {"{}": 1.0}}}
    told = {"hardware": {}, "versions": {}, "protocol": {"by_row": by_row}, "rows": [], "paper": []}
    return Results(study="gaussian/table1", command="", **told)


def test_settings_are_taken_from_an_earlier_result_file(tmp_path):
    first, second = (task(tmp_path, rows[-1]) for rows in (FEW_1, FEW_2))
    table1 = chose(first, log_var_start=-2.0, scale=0.3)
    found = as_before(first, table1)
    assert (found.recipe.model.log_var_start, found.recipe.model.scale) == (-2.0, 0.3)
    assert not trials_of([found], seed=0) and found.tried == {"{}": 1.0}
    trials = trials_of([as_before(second, table1)], seed=0)  # the second phase is still open
    assert [t.recipe.model.lr for t in trials] == [1e-4, 3e-4]
    assert {t.recipe.first for t in trials} == {found.recipe}
    table2 = chose(second, log_var_start=-2.0, scale=0.3, **{"second phase: lr": 3e-4})
    whole = as_before(second, table2)
    assert (whole.recipe.model.lr, whole.recipe.first) == (3e-4, found.recipe)
    with pytest.raises(
        PolymodalError, match=r"gaussian/table1 has no log_var_start, scale for GCIE"
    ):
        as_before(task(tmp_path, FEW_1[-1], data="other"), table1)


def test_a_rate_is_chosen_for_its_own_phase(tmp_path):
    (trial, *_) = trials_of([task(tmp_path, FEW_2[0])], seed=0)
    assert trial.recipe.model.lr == 2e-4
    settled_task = settled(task(tmp_path, FEW_2[0]), scored([trial], 1.0))
    assert settled_task.recipe.first.model.lr == 2e-4
    assert settled_task.recipe.model.lr == FEW_2[0].model.lr


@pytest.mark.slow
def test_the_quick_path_writes_a_table_and_goes_on(tmp_path, monkeypatch, capsys):
    out, opened, opening = tmp_path / "results.json", [], jobs.open_splits
    monkeypatch.setattr(jobs, "open_splits", lambda *a, **k: opened.append(a) or opening(*a, **k))
    how = {"quick": True, "rows": ("hardest",), "seeds": (0, 1), "folder": tmp_path, "out": out}
    found = reproduce("vse/negatives", **how)
    assert len(opened) == 1  # for all runs
    assert [(row.name, row.seed) for row in found.rows] == [("hardest", 0), ("hardest", 1)]
    assert results.read(out).rows == found.rows
    printed = capsys.readouterr()
    assert "hardest" in printed.out and "mean nothing" in " ".join(printed.out.split())
    assert f"Wrote {out}. Next: polymodal results {out}" in printed.err
    monkeypatch.setattr(jobs, "fit", lambda *_, **__: pytest.fail("it trained again"))
    assert reproduce("vse/negatives", **how).rows == found.rows


SOME = ("VSE++", "GIE spherical mahalanobis", "GCIE ellipsoidal kl")
QUICKLY = {"quick": True, "seeds": (0,), "accelerator": "cpu", "rows": SOME}


@pytest.fixture(scope="module")
def quick_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduce")


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table1", "table2", "table3", "extent", "uncertainty"])
def test_the_quick_path_of_every_gaussian_study(table, quick_folder):
    """Of a few rows. They are trained once: the later studies find the runs of table1."""
    study = named(f"gaussian/{table}")
    found = reproduce(f"gaussian/{table}", folder=quick_folder, **QUICKLY)
    assert [row.name for row in found.rows] == list(SOME)
    assert set(study.metrics) <= {name for row in found.rows for name in row.metrics}
    assert read(quick_folder / "quick" / f"gaussian/{table}.json").rows == found.rows
    runs = list((quick_folder / "quick" / "runs").iterdir())
    phases = 1 if table == "table1" else 2
    assert len(runs) == 2 * phases * len(SOME)  # two choices a row and phase
    chosen = found.protocol["by_row"][f"VSE++, {study.quick_data}"]
    assert chosen["chosen"]["lr"] in (2e-4, 5e-4)
    assert len(chosen["tried"]) == (4 if table == "table2" else 2)
    assert not any((run / "checkpoints").exists() for run in runs)


@pytest.mark.slow
def test_a_study_with_the_choices_of_another_tries_none(quick_folder, tmp_path):
    earlier = quick_folder / "quick" / "gaussian/table1.json"
    reproduce("gaussian/table1", folder=quick_folder, **QUICKLY)
    found = reproduce("gaussian/extent", folder=tmp_path, chosen=earlier, **QUICKLY)
    assert len(list((tmp_path / "quick" / "runs").iterdir())) == len(found.rows) == len(SOME)


def test_a_row_is_chosen_where_validation_classes_are_left(tmp_path):
    """The last training is on all seen classes, but what it is given is tried without some."""
    row = replace(FEW_1[-1], training=replace(FEW_1[-1].training, final=True))
    (trial, *_) = trials_of([task(tmp_path, row)], seed=0)
    assert not trial.recipe.training.final
    chosen = settled(task(tmp_path, row), scored([trial], 1.0))
    assert chosen.recipe.training.final
    assert chosen.chosen == trial.chosen


def test_rows_are_picked_by_patterns_of_names_and_blocks():
    rows = named("zeroshot/cub").recipes
    assert matching(rows, ()) == rows
    assert [r.label for r in matching(rows, ("basic/PN", "alex/FC*(strong)"))] == [
        "basic/PN (as-written)",
        "basic/PN (strong)",
        "alex/FC (strong)",
        "alex/FC+AC (strong)",
        "alex/FC+LC (strong)",
    ]


def test_a_pattern_without_a_row_names_the_nearest_and_shows_how_one_looks():
    rows = named("zeroshot/cub").recipes
    with pytest.raises(PolymodalError) as caught:
        matching(rows, ("basic/FC", "basics/FC*"))
    assert str(caught.value) == (
        "No row matches 'basics/FC*'. Did you mean 'basic/FC' or 'basic/FC+LC' or 'basic/FC+AC'? "
        "A row is named like 'basic/FC (as-written)', and * stands for any text."
    )
    with pytest.raises(PolymodalError, match=r"No row matches '7'\. A row is named like"):
        matching(rows, ("7",))


def test_rows_that_share_a_run_or_a_judge_wait_for_it(tmp_path):
    recipes = named("vlvae/table1").quick
    tasks = [task(tmp_path, r, study="vlvae/table1", seed=s) for r in recipes for s in (0, 1)]
    waited = shared(tasks)
    assert [(t.recipe.name, t.seed) for t in waited] == [("q_true", 0), ("q_true", 1), ("judge", 0)]
    assert place(tasks[0], recipes[0]) == place(tasks[0], recipes[1])
    assert not shared([task(tmp_path, row) for row in FEW_1])


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table1", "table2"])
def test_the_quick_path_of_the_vlvae_tables(table, quick_folder):
    study = named(f"vlvae/{table}")
    found = reproduce(
        f"vlvae/{table}", quick=True, seeds=(0,), folder=quick_folder, accelerator="cpu"
    )
    assert [row.name for row in found.rows] == [row.name for row in study.paper]
    for row in found.rows:
        assert set(study.metrics) <= row.metrics.keys()
        assert row.metrics["correctness"] == pytest.approx(
            sum(row.metrics[f"correctness_{a}"] for a in ("size", "colour", "material", "shape"))
            / 4
        )
    systems = {run.name.split("-")[0] for run in (quick_folder / "quick" / "runs").iterdir()}
    assert {"vlvae", "judge"} <= systems


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["figure1", "figure3", "figure4", "figure7"])
def test_the_quick_path_of_the_vlvae_figures(figure, quick_folder):
    found = reproduce(
        f"vlvae/{figure}", quick=True, seeds=(0,), folder=quick_folder, accelerator="cpu"
    )
    (row,) = found.rows
    assert row.metrics
    drawn = quick_folder / "quick" / f"vlvae/{figure}-{row.name.replace(' ', '-')}-0.png"
    assert drawn.read_bytes()[1:4] == b"PNG"


@pytest.mark.slow
def test_the_quick_path_beyond_the_paper(quick_folder):
    found = reproduce(
        "beyond/losses", quick=True, seeds=(0,), folder=quick_folder, accelerator="cpu"
    )
    assert {row.name for row in found.rows} >= {"VSE++ infonce", "GCIE wasserstein sigmoid"}
    assert "caption_error_auroc" in found.rows[-1].metrics


@pytest.mark.slow
def test_several_processes_make_the_same_table(tmp_path, quick_workers):
    def made(folder, processes):
        return reproduce(
            "vse/negatives",
            quick=True,
            rows=("hardest", "sum"),
            seeds=(0,),
            folder=tmp_path / folder,
            accelerator="cpu",
            processes=processes,
        )

    one, two = made("one", 1), made("two", 2)
    assert [(row.name, row.seed) for row in one.rows] == [(row.name, row.seed) for row in two.rows]
    for first, second in zip(one.rows, two.rows, strict=True):
        assert first.metrics["rsum"] == pytest.approx(second.metrics["rsum"], abs=2)


def test_rows_that_fail_are_named_when_the_rest_is_done(tmp_path, quick_workers):
    with pytest.raises(PolymodalError) as caught:
        reproduce(
            "vse/negatives",
            data=("scenes,size=32,train=40,val=0,test=10",),
            quick=True,
            seeds=(0,),
            folder=tmp_path,
            accelerator="cpu",
            processes=2,
        )
    assert "4 of 4 rows failed" in str(caught.value)
    assert "hardest, seed 0" in str(caught.value)


def test_only_a_finished_run_is_tidied(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    Run(tmp_path).tidy()
    assert (tmp_path / "checkpoints").exists()
    (tmp_path / "metrics.json").write_text("{}")
    Run(tmp_path).tidy()
    assert not (tmp_path / "checkpoints").exists()
