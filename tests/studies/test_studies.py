"""Studies: their recipes are whole, the quick path runs and goes on, protocols that differ are said."""

from dataclasses import replace

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.runs.run_folder import Run
from polymodal.studies.reproduction import reproduce
from polymodal.studies.reproduction.choosing import (
    Trial,
    trials_of,
    with_best,
    with_earlier_choices,
    with_settings,
)
from polymodal.studies.reproduction.options import Options
from polymodal.studies.reproduction.tasks import Task, run_folder, shared_runs
from polymodal.studies.result_files import Results
from polymodal.studies.seeds.gaussian import DRAWN_1, FEW_1, FEW_2, TABLE_1
from polymodal.studies.study import (
    Scale,
    Study,
    default_data,
    matching,
    scale_for,
    study_named,
    study_names,
)

PHOTOS = "folder:photos"


def test_every_study_has_recipes_a_quick_path_and_a_line():
    tables = {
        f"gaussian/{name}" for name in ("table1", "table2", "table3", "extent", "uncertainty")
    }
    assert {"vse/coco", "vse/negatives"} | tables <= set(study_names())
    for name in study_names():
        study = study_named(name)
        assert study.about
        labels = {scale: [r.label for r in s.rows] for scale, s in study.scales.items()}
        assert "quick" in labels
        assert all(len(set(rows)) == len(rows) for rows in labels.values())
        full = labels.pop("paper", labels["quick"])
        assert full == labels["quick"]
        drawn = labels.get("drawn", full)  # the same, or in the same order some of them
        assert drawn == [label for label in full if label in drawn]


def test_the_quick_scale_is_never_the_default():
    for study in map(study_named, study_names()):
        assert default_data(study, "quick")
        assert scale_for(study, "birds") is not study.scales["quick"]
    drawn = Scale(rows=DRAWN_1, only="drawn")
    only_drawn = Study(about="", scales={"drawn": drawn, "quick": study.scales["quick"]})
    with pytest.raises(PolymodalError, match="This study is not for folder:photos"):
        scale_for(only_drawn, PHOTOS)


def test_an_unknown_study_names_the_nearest():
    with pytest.raises(
        PolymodalError, match=r"Unknown study 'vse/cocco'\. Did you mean 'vse/coco'"
    ):
        reproduce("vse/cocco", Options())


def test_data_must_be_given_where_the_study_has_none():
    with pytest.raises(PolymodalError, match="vse/coco needs data"):
        reproduce("vse/coco", Options())


@pytest.mark.parametrize("data", [PHOTOS, "cub:CUB.zip,splits=xlsa17/CUB"])
def test_a_study_of_drawn_truth_refuses_files_before_it_trains(data):
    with pytest.raises(PolymodalError, match="It needs a drawn world, whose objects are known"):
        reproduce("gaussian/extent", Options(data=(data,)))


def test_seeds_and_processes_are_at_least_one():
    with pytest.raises(PolymodalError, match="at least one seed"):
        Options(seeds=())
    with pytest.raises(PolymodalError, match="--processes must be at least 1, not 0"):
        Options(processes=0)


@pytest.mark.parametrize(
    ("table", "first", "last"), [("table1", 446.7, 453.1), ("table2", 478.6, 483.4)]
)
def test_the_papers_sums_are_those_of_its_recalls(table, first, last):
    rows = {row.name: row.metrics for row in study_named(f"gaussian/{table}").paper.rows}
    assert list(rows) == list(TABLE_1)
    assert rows["VSE++"]["rsum"] == pytest.approx(first)
    assert rows["GCIE ellipsoidal wasserstein"]["rsum"] == pytest.approx(last)


@pytest.mark.parametrize("table", ["table1", "table2"])
@pytest.mark.parametrize("data", [PHOTOS, "scenes"])
def test_all_rows_of_a_table_have_the_same_budget(table, data):
    recipes = scale_for(study_named(f"gaussian/{table}"), data).rows
    assert len({recipe.training for recipe in recipes}) == 1
    alike = [r for r in recipes if r.name != "GIE spherical mahalanobis" or table == "table1"]
    assert len({r.choices for r in alike}) <= 2  # of VSE++ and of the Gaussian rows
    assert len({(r.model.embed_dim, r.model.hidden, r.model.lr) for r in alike}) == 1


def test_at_scale_the_rates_and_epochs_are_the_papers():
    one, two = (study_named(f"gaussian/table{n}").scales["paper"].rows for n in (1, 2))
    for row in one:
        assert (row.training.epochs, row.model.lr, row.model.decay_at) == (30, 2e-4, 0.5)
        assert (row.model.embed_dim, row.model.hidden, row.model.word_dim) == (1024, 1024, 300)
        assert (row.model.margin, row.model.negatives) == (0.2, "hardest")
    for first, row in zip(one, two, strict=True):
        assert row.first == first
        assert row.model.finetune and row.training.epochs == 15
        assert row.model.lr == pytest.approx(2e-6 if "GIE spherical" in row.name else 2e-5)


def test_worlds_and_folders_have_their_own_rows():
    study = study_named("gaussian/table1")
    assert scale_for(study, "scenes,size=32").rows == DRAWN_1
    assert scale_for(study, PHOTOS).rows == FEW_1
    for files in ("cub:a,splits=b", "awa2:a,splits=b", "sun:a,splits=b"):
        assert scale_for(study, files).rows == FEW_1
    assert scale_for(study, PHOTOS, "quick") == study.scales["quick"]


def test_a_scale_is_refused_where_there_is_none_or_it_is_for_other_data():
    with pytest.raises(PolymodalError, match=r"Unknown scale 'smal'\. Did you mean 'small'\?"):
        scale_for(study_named("gaussian/table1"), PHOTOS, "smal")
    with pytest.raises(PolymodalError, match="The scale 'small' is not for birds,size=64"):
        scale_for(study_named("zeroshot/cub"), "birds,size=64", "small")
    with pytest.raises(PolymodalError, match="exclude each other"):
        Options(small=True, scale="quick")


def test_flags_are_spellings_of_scales(capsys):
    table, extent = (study_named(f"gaussian/{name}") for name in ("table1", "extent"))
    for name, flag in (("quick", "quick"), ("small", "small"), ("paper", "at_scale")):
        assert Options(**{flag: True}).scale_name(table) == name
        assert Options(scale=name).scale_name(table) == name
    assert Options().scale_name(table) is None
    assert Options(at_scale=True).scale_name(extent) is None
    assert "has no rows of the paper's own size" in capsys.readouterr().err


def task(tmp_path, recipe, data="scenes", study="gaussian/table1", seed=0):
    return Task(
        study=study, recipe=recipe, seed=seed, data=data, folder=tmp_path, accelerator="cpu"
    )


def test_a_recipe_that_studies_share_has_one_run(tmp_path):
    row, other = FEW_1[-1], FEW_1[-2]
    here = run_folder(task(tmp_path, row), row)
    assert here == run_folder(task(tmp_path, row, study="gaussian/table3"), row)
    assert here != run_folder(task(tmp_path, row, data="folder:other"), row)
    assert here != run_folder(task(tmp_path, other), other)
    lower = with_settings(row, {"log_var_start": -2.0})
    assert here != run_folder(task(tmp_path, lower), lower)


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
    tasks = [with_best(one, [*scored(trials, 3.0, 1.0, 7.0, 2.0), elsewhere]) for one in tasks]
    for one in tasks:
        assert one.chosen == {"log_var_start": -2.0, "scale": 0.3}
        assert one.recipe.model.log_var_start == one.recipe.first.model.log_var_start == -2.0
        assert one.recipe.model.scale == 0.3
        assert one.recipe.first == trials[2].recipe  # so that it is trained no second time
    trials = trials_of(tasks, seed=0)
    assert [t.recipe.model.lr for t in trials] == [1e-4, 3e-4]
    assert {t.recipe.first for t in trials} == {tasks[0].recipe.first}
    last = with_best(tasks[1], scored(trials, 8.0, 4.0))
    assert last.chosen == {"log_var_start": -2.0, "scale": 0.3, "second phase: lr": 1e-4}
    assert list(last.tried.values()) == [3.0, 1.0, 7.0, 2.0, 8.0, 4.0]
    assert not trials_of([last], seed=1)
    assert with_best(last, []) == last


def chose(task, **chosen):
    """A result file in which these settings were chosen for the row of a task."""
    by_row = {f"{task.recipe.name}, {task.data}": {"chosen": chosen, "tried": {"{}": 1.0}}}
    told = {"hardware": {}, "versions": {}, "protocol": {"by_row": by_row}, "rows": [], "paper": []}
    return Results(study="gaussian/table1", command="", **told)


def test_settings_are_taken_from_an_earlier_result_file(tmp_path):
    first, second = (task(tmp_path, rows[-1]) for rows in (FEW_1, FEW_2))
    table1 = chose(first, log_var_start=-2.0, scale=0.3)
    found = with_earlier_choices(first, table1)
    assert (found.recipe.model.log_var_start, found.recipe.model.scale) == (-2.0, 0.3)
    assert not trials_of([found], seed=0) and found.tried == {"{}": 1.0}
    trials = trials_of(
        [with_earlier_choices(second, table1)], seed=0
    )  # the second phase is still open
    assert [t.recipe.model.lr for t in trials] == [1e-4, 3e-4]
    assert {t.recipe.first for t in trials} == {found.recipe}
    table2 = chose(second, log_var_start=-2.0, scale=0.3, **{"second phase: lr": 3e-4})
    whole = with_earlier_choices(second, table2)
    assert (whole.recipe.model.lr, whole.recipe.first) == (3e-4, found.recipe)
    with pytest.raises(
        PolymodalError, match=r"gaussian/table1 has no log_var_start, scale for GCIE"
    ):
        with_earlier_choices(task(tmp_path, FEW_1[-1], data="other"), table1)


def test_a_rate_is_chosen_for_its_own_phase(tmp_path):
    (trial, *_) = trials_of([task(tmp_path, FEW_2[0])], seed=0)
    assert trial.recipe.model.lr == 2e-4
    chosen_task = with_best(task(tmp_path, FEW_2[0]), scored([trial], 1.0))
    assert chosen_task.recipe.first.model.lr == 2e-4
    assert chosen_task.recipe.model.lr == FEW_2[0].model.lr


def test_a_row_is_chosen_where_validation_classes_are_left(tmp_path):
    """The last training is on all seen classes, but what it is given is tried without some."""
    row = replace(FEW_1[-1], training=replace(FEW_1[-1].training, final=True))
    (trial, *_) = trials_of([task(tmp_path, row)], seed=0)
    assert not trial.recipe.training.final
    chosen = with_best(task(tmp_path, row), scored([trial], 1.0))
    assert chosen.recipe.training.final
    assert chosen.chosen == trial.chosen


def test_rows_are_picked_by_patterns_of_names_and_blocks():
    rows = study_named("zeroshot/cub").scales["paper"].rows
    assert matching(rows, ()) == rows
    assert [r.label for r in matching(rows, ("basic/PN", "alex/FC*(strong)"))] == [
        "basic/PN (as-written)",
        "basic/PN (strong)",
        "alex/FC (strong)",
        "alex/FC+AC (strong)",
        "alex/FC+LC (strong)",
    ]


def test_a_pattern_without_a_row_names_the_nearest_and_shows_how_one_looks():
    rows = study_named("zeroshot/cub").scales["paper"].rows
    with pytest.raises(PolymodalError) as caught:
        matching(rows, ("basic/FC", "basics/FC*"))
    assert str(caught.value) == (
        "No row matches 'basics/FC*'. Did you mean 'basic/FC' or 'basic/FC+LC' or 'basic/FC+AC'? "
        "A row is named like 'basic/FC (as-written)', and * stands for any text."
    )
    with pytest.raises(PolymodalError, match=r"No row matches '7'\. A row is named like"):
        matching(rows, ("7",))


def test_rows_that_share_a_run_or_a_judge_wait_for_it(tmp_path):
    recipes = study_named("vlvae/table1").scales["quick"].rows
    tasks = [task(tmp_path, r, study="vlvae/table1", seed=s) for r in recipes for s in (0, 1)]
    waited = shared_runs(tasks)
    assert [(t.recipe.name, t.seed) for t in waited] == [("q_true", 0), ("q_true", 1), ("judge", 0)]
    assert run_folder(tasks[0], recipes[0]) == run_folder(tasks[0], recipes[1])
    assert not shared_runs([task(tmp_path, row) for row in FEW_1])


@pytest.mark.slow
def test_several_processes_make_the_same_table(tmp_path, quick_workers):
    def made(folder, processes):
        return reproduce(
            "vse/negatives",
            Options(
                quick=True,
                rows=("hardest", "sum"),
                seeds=(0,),
                folder=tmp_path / folder,
                accelerator="cpu",
                processes=processes,
            ),
        )

    one, two = made("one", 1), made("two", 2)
    assert [(row.name, row.seed) for row in one.rows] == [(row.name, row.seed) for row in two.rows]
    for first, second in zip(one.rows, two.rows, strict=True):
        assert first.metrics["rsum"] == pytest.approx(second.metrics["rsum"], abs=2)


def test_rows_that_fail_are_named_when_the_rest_is_done(tmp_path, quick_workers):
    with pytest.raises(PolymodalError) as caught:
        reproduce(
            "vse/negatives",
            Options(
                data=("scenes,size=32,train=40,val=0,test=10",),
                quick=True,
                seeds=(0,),
                folder=tmp_path,
                accelerator="cpu",
                processes=2,
            ),
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
