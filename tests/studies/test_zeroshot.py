"""The studies of zero-shot learning: fair rows, the thesis's figures, what goes with accuracy."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polymodal.nn import scratch
from polymodal.studies.reproduction import reproduce
from polymodal.studies.reproduction.options import Options
from polymodal.studies.reproduction.result_table import collect, with_paper
from polymodal.studies.reproduction.row_measuring import MeasuredRow
from polymodal.studies.reproduction.tasks import Task, run_folder
from polymodal.studies.result_files import Row, read_results, write
from polymodal.studies.seeds.zeroshot import TABLE, conclusions
from polymodal.studies.seeds.zeroshot.choices import CHOOSING
from polymodal.studies.seeds.zeroshot.conclusions import all_related, related
from polymodal.studies.seeds.zeroshot.zeroshot_recipes import (
    BEYOND,
    EPOCHS,
    MODERN,
    OURS,
    RECONSTRUCTING,
    TWO_VIEWS,
)
from polymodal.studies.study import default_data, scale_for, size_hint, study_named

CUB = "cub:CUB.zip,splits=xlsa17/CUB"
STUDIES = ("cub", "local", "tre", "parts", "heatmaps", "plateau", "choices", "prototypes")


def run_of(recipe):
    task = Task(
        study="", recipe=recipe, seed=0, data="birds", folder=Path("runs"), accelerator="cpu"
    )
    return run_folder(task, recipe)


@pytest.mark.parametrize("block", EPOCHS)
def test_a_block_has_every_row_of_the_table(block):
    rows = [row for row in TABLE if row.block == block]
    count = 50 if block == "strong" else 42  # without those that the thesis does not have
    assert len({row.name for row in rows}) == len(rows) == count
    assert len({run_of(row) for row in rows}) == count
    for row in rows:
        once = "alex" in row.name or row.name.split("/")[1].partition("+")[0] in (
            *RECONSTRUCTING,
            *MODERN,
        )
        assert row.seeds == (1 if once else None)
        assert row.training.final  # on all seen classes, nothing selected


@pytest.mark.parametrize("block", EPOCHS)
@pytest.mark.parametrize("encoder", ["basic", "alex"])
def test_all_rows_of_an_encoder_have_as_many_passes_and_one_recipe(block, encoder):
    rows = [row for row in TABLE if row.block == block and row.model.encoder == encoder]
    assert {row.training.epochs for row in rows} == {EPOCHS[block][encoder]}
    assert len({(row.training.batch_size, row.model.lr, row.model.flip) for row in rows}) == 1
    for row in rows:  # the local loss is the same for all
        strong = block == "strong" and row.model.local != "none"
        assert row.model.local_hidden == (512 if strong else 0)
        assert row.model.local_centred == (strong and row.model.local == "attributes")


def test_trials_count_encoded_images_and_start_from_a_linear_local_loss():
    rows = {row.name: row for row in CHOOSING}
    fc, cmdim = rows["basic/FC+AC, ×1"], rows["basic/CMDIM(p=1)+AC, ×1"]
    assert fc.training.epochs == 2 * cmdim.training.epochs == EPOCHS["strong"]["basic"]
    assert not any(row.model.local_hidden or row.model.local_centred for row in (fc, cmdim))
    trial = rows["basic/CMDIM(p=1)+AC, local_hidden 512, ×1"]
    assert trial.model == replace(cmdim.model, local_hidden=512)


def test_what_is_as_written_is_what_is_written():
    """003, A.2 and A.7."""
    for row in TABLE:
        if row.block == "as-written":
            model = row.model
            assert (row.training.batch_size, model.lr, model.crop, model.dim) == (
                64,
                1e-4,
                0.875,
                1024,
            )
            assert not (model.flip or model.decay or model.dropout)
            if row.system in ("dim", "cmdim"):
                assert model.bound == "donsker-varadhan"
            if row.system == "amdim":
                assert model.augmentation == "window"


def test_the_thesis_is_quoted():
    paper = {row.name: row.metrics for row in study_named("zeroshot/cub").paper.rows}
    assert len(paper) == 2 * (9 * 3 + 1)
    assert paper["alex/CMDIM(p=1)+AC"] == {"zsl_top1": 40.11, "tre_ratio": 0.649}
    assert paper["basic/CMDIM(p=0.5)+AC"] == {"zsl_top1": 35.15, "parts_f1": 0.397}
    assert paper["basic/PN"] == {"zsl_top1": 26.29, "parts_f1": 0.288}
    best = {e: max((r for r in paper if e in r), key=lambda r: paper[r]["zsl_top1"]) for e in
            ("alex", "basic")}  # fmt: skip
    assert best == {"alex": "alex/CMDIM(p=1)+AC", "basic": "basic/CMDIM(p=0.5)+AC"}  # in bold there
    ours = {row.name for row in TABLE}
    beyond = {f"basic/{model}{local}" for model in BEYOND for local in ("", "+AC")}
    beyond |= {f"alex/{model}{local}" for model in OURS for local in ("", "+AC")}
    assert ours - paper.keys() == {"basic/PN+AC", "basic/PN+LC", "alex/PN+AC"} | beyond
    places = {row.name: row.metrics for row in study_named("zeroshot/local").paper.rows}
    assert places["alex/CMDIM(p=1)"]["representations_pool"] == 34.11
    assert places["alex/CMDIM(p=1)"]["predictions_pool"] == 13.51


def test_the_thesis_stands_beside_its_own_data_and_full_rows_alone():
    study = study_named("zeroshot/cub")
    drawn, ours, other = (
        Row(name="basic/FC", data=data, seed=0, metrics={}, block="strong")
        for data in ("birds,size=64", CUB, "awa2:a,splits=b")
    )
    told = {"hardware": {}, "versions": {}, "protocol": {}}
    small = replace(ours, block="small")
    for rows, paper in (
        ([ours], study.paper.rows),
        ([drawn, other], ()),
        ([drawn, ours], study.paper.rows),
        ([small], ()),
        ([small, ours], study.paper.rows),
    ):
        made = collect("zeroshot/cub", [MeasuredRow(row=row, metrics=told) for row in rows])
        assert with_paper(made, study).paper == paper


def test_studies_of_the_same_rows_share_their_runs():
    table = {run_of(row) for row in TABLE}
    for name in ("tre", "parts", "heatmaps"):
        assert {
            run_of(row) for row in study_named(f"zeroshot/{name}").scales["paper"].rows
        } <= table
    plateau = {
        row.label: run_of(row) for row in study_named("zeroshot/plateau").scales["paper"].rows
    }
    assert len(plateau) == 18
    assert [label for label, run in plateau.items() if run in table] == [
        "basic/FC+AC ×1 (strong)",
        "basic/CMDIM(p=1)+AC ×1 (strong)",
        "basic/FC+AC ×1 (as-written)",
        "basic/CMDIM(p=1)+AC ×1 (as-written)",
        "alex/FC+AC ×1 (strong)",
        "alex/CMDIM(p=1)+AC ×1 (strong)",
    ]
    assert not any(
        row.training.final for row in study_named("zeroshot/choices").scales["paper"].rows
    )


@pytest.mark.parametrize("study", ["cub", "tre", "parts", "local", "heatmaps"])
def test_drawn_birds_have_rows_of_the_strong_block_that_a_processor_can_train(study):
    rows = scale_for(study_named(f"zeroshot/{study}"), "birds,size=64").rows
    written = {row.label: row for row in scale_for(study_named(f"zeroshot/{study}"), CUB).rows}
    assert written.keys() >= {row.label for row in rows}
    for row in rows:
        assert (row.block, row.seeds, row.training.final) == ("strong", None, True)
        assert (row.model.slim, row.model.dim, row.model.lr, row.model.fit_lr) == (
            4,
            256,
            3e-3,
            1e-2,
        )
        assert row.training.epochs == (20 if row.system in TWO_VIEWS else 40)  # as many pictures
        before = written[row.label].model
        assert (row.model.local, row.model.dropout) == (before.local, before.dropout)
    full = scale_for(study_named(f"zeroshot/{study}"), "birds", "paper").rows
    assert full == tuple(written.values())
    if study in ("tre", "parts"):
        assert {run_of(r) for r in rows} == {
            run_of(r) for r in study_named("zeroshot/cub").scales["drawn"].rows
        }


@pytest.mark.parametrize("study", ["cub", "tre", "parts", "local", "heatmaps"])
def test_files_have_small_rows_that_are_not_taken_for_full_ones(study):
    rows = scale_for(study_named(f"zeroshot/{study}"), f"{CUB},size=64", "small").rows
    full = {row.name: row for row in scale_for(study_named(f"zeroshot/{study}"), CUB).rows}
    assert {row.name for row in rows} <= full.keys()
    assert not {run_of(row) for row in rows} & {run_of(row) for row in full.values()}
    for row in rows:
        assert (row.block, row.seeds, row.training.final) == ("small", None, True)
        assert (row.model.slim, row.model.dim) == (4, 256)
        assert row.training.epochs == (20 if row.system in TWO_VIEWS else 40)
        assert row.model.local == full[row.name].model.local
    rates = {(row.model.lr, row.model.fit_lr, row.model.fit_steps) for row in rows}
    assert len(rates) == 1
    assert study != "cub" or len(rows) == 36


def test_small_rows_on_pictures_of_another_size_are_remarked():
    small = study_named("zeroshot/cub").scales["small"]
    assert size_hint(small, f"{CUB},size=64") is None
    for data in (CUB, f"{CUB},size=128"):
        assert f"for images of 64×64: add ',size=64' to {data}" in size_hint(small, data)


def test_places_that_are_joined_see_less_than_the_picture():
    study = study_named("zeroshot/local")
    side = study.scales["small"].image_size
    assert default_data(study) == (f"birds,size={side}",)
    size = round(0.875 * side)
    assert scratch.alex(size).window(6).size < size < scratch.alex(size).window(6).size * 2
    assert scratch.alex(56).window(6).size > 56  # as of the pictures of the other studies


def test_rates_of_small_rows_are_among_those_that_validation_classes_judge():
    tried = study_named("zeroshot/choices").scales["small"].rows
    assert not any(row.training.final for row in tried)
    table = study_named("zeroshot/cub").scales["small"].rows
    rates = {(row.model.lr, row.model.fit_lr, row.model.fit_steps) for row in table}
    assert rates <= {(row.model.lr, row.model.fit_lr, row.model.fit_steps) for row in tried}


def rows_of(values, block="strong"):
    return [
        Row(name=name, data="cub", seed=seed, metrics={"m": x, "zsl_top1": y}, block=block)
        for name, seeds in values.items()
        for seed, (x, y) in enumerate(seeds)
    ]


def test_rows_are_correlated_by_their_means(tmp_path):
    values = {
        "basic/FC": [(0.8, 30.0), (0.6, 34.0)],
        "basic/FC+AC": [(0.6, 36.0)],
        "basic/VAE": [(1.1, 30.0)],
        "basic/DIM": [(0.9, 25.0)],
        "basic/DIM+AC": [(0.7, 29.0)],
        "basic/PN": [(0.9, 31.0)],
        "alex/FC": [(0.5, 41.0)],
        "basic/DINO+AC": [(5.0, 5.0)],
    }
    aside = {"aside": ("VAE",), "beyond": ("DINO",), "told_classes": ("FC", "PN")}
    found = related(rows_of(values), tmp_path / "t.json", metric="m", axis="M", **aside)
    means = np.array([np.mean(seeds, axis=0) for seeds in values.values()])
    scopes = {
        "strong": [0, 1, 2, 3, 4, 5, 6],
        "strong, basic": [0, 1, 2, 3, 4, 5],
        "strong, basic without VAE": [0, 1, 3, 4, 5],
        "strong, basic told classes": [0, 1, 5],
        "strong, basic not told classes": [2, 3, 4],
    }
    assert list(found) == list(scopes)
    for name, some in scopes.items():
        assert found[name]["r"] == pytest.approx(np.corrcoef(means[some].T)[0, 1])
        assert found[name]["rows"] == len(some)
        assert 0 <= found[name]["p"] <= 1
    assert (tmp_path / "t.png").read_bytes()[1:4] == b"PNG"


def test_each_seed_is_correlated_by_itself_too(tmp_path):
    values = {f"basic/{n}": [(n, n), (n, [5, 3, 9, 1][n])] for n in range(4)}
    (found,) = {
        (one["r_least"], one["r_most"])
        for one in related(rows_of(values), tmp_path / "t.json", metric="m", axis="M").values()
    }
    assert found == pytest.approx((np.corrcoef([0, 1, 2, 3], [5, 3, 9, 1])[0, 1], 1))
    values["basic/3"] = values["basic/3"][:1]  # which the second seed has not
    some = related(rows_of(values), tmp_path / "t.json", metric="m", axis="M")["strong"]
    assert some["r_least"] == pytest.approx(np.corrcoef([0, 1, 2], [5, 3, 9])[0, 1])


@pytest.mark.parametrize(
    "values",
    [
        {"basic/FC": [(0.8, 30.0)], "basic/PN": [(0.6, 34.0)]},
        {name: [(0.8, 10.0 * n)] for n, name in enumerate(("FC", "PN", "DIM"))},
    ],
)
def test_nothing_is_said_of_few_rows_or_of_equal_ones(values, tmp_path):
    assert related(rows_of(values), tmp_path / "t.json", metric="m", axis="M") == {}


def test_the_r_that_is_shown_may_be_of_one_encoder(tmp_path, monkeypatch):
    clouds = []
    monkeypatch.setattr(conclusions, "scatter", lambda found, **how: clouds.extend(found))
    values = {"basic/A": [(1, 1)], "basic/B": [(2, 2)], "basic/C": [(3, 3)], "alex/A": [(9, -9)]}
    for shown in ("basic/", ""):
        related(rows_of(values), tmp_path / "t.json", metric="m", axis="M", shown=shown)
    both = np.corrcoef([1, 2, 3, 9], [1, 2, 3, -9])[0, 1]
    assert [cloud.note for cloud in clouds] == ["basic r = 1.00", f"r = {both:.2f}"]
    assert [len(cloud.dots) for cloud in clouds] == [4, 4]


def test_each_block_is_correlated_by_itself(tmp_path):
    rising = {f"basic/{n}": [(n, n)] for n in range(4)}
    falling = {f"basic/{n}": [(n, -n)] for n in range(4)}
    rows = rows_of(rising, "one") + rows_of(falling, "two")
    found = related(rows, tmp_path / "t.json", metric="m", axis="M")
    assert found["one"]["r"] == pytest.approx(1)
    assert found["two"]["r"] == pytest.approx(-1)


def test_each_metric_is_correlated_over_the_rows_that_have_it(tmp_path):
    rows = rows_of({f"basic/{n}": [(n, n)] for n in range(4)})
    for n, row in enumerate(rows[:3]):
        row.metrics["seen"] = -n
    axes = {"m": "M", "seen": "M of the seen", "nowhere": "none"}
    found = all_related(rows, tmp_path / "t.json", axes=axes)
    assert {name: one["rows"] for name, one in found.items()} == {
        f"{metric}, {scope}": count
        for metric, count in (("m", 4), ("seen", 3))
        for scope in (
            "strong",
            "strong, basic",
            "strong, basic without ",
            "strong, basic not told classes",
        )
    }
    assert found["seen, strong"]["r"] == pytest.approx(-1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.png", "seen.png"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("zeroshot")


FEW = {
    "local": "alex/FC",
    "plateau": "*CMDIM*1",
    "choices": "*PN, dropout*",
    "heatmaps": "basic/FC",
}


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_the_quick_path_of_every_study(study, folder):
    """Of a few rows; all of them take about a minute."""
    how = {"quick": True, "folder": folder, "accelerator": "cpu"}
    rows = (FEW.get(study, "basic/FC*"),)
    found = reproduce(f"zeroshot/{study}", Options(rows=rows, **how))
    for row in found.rows:
        assert set(study_named(f"zeroshot/{study}").metrics) <= row.metrics.keys()
    if study == "heatmaps":
        assert (folder / "quick/zeroshot/heatmaps-basic-FC-strong-0.png").stat().st_size > 1000
    if study in ("tre", "parts"):
        for metric in study_named(f"zeroshot/{study}").metrics[1:]:
            assert (folder / f"quick/zeroshot/{metric}.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_table_is_made_part_by_part(tmp_path, capsys):
    how = {"quick": True, "folder": tmp_path, "accelerator": "cpu"}
    first = reproduce("zeroshot/cub", Options(rows=("basic/PN",), **how))
    assert [row.label for row in first.rows] == ["basic/PN (as-written)", "basic/PN (strong)"]
    assert [row.block for row in first.rows] == ["as-written", "strong"]
    capsys.readouterr()
    whole = reproduce("zeroshot/cub", Options(rows=("basic/FC (strong)",), **how))
    printed = " ".join(capsys.readouterr().out.split())  # the rows asked for alone
    assert "basic/FC (strong)" in printed and "chance" in printed and "on birds,size=64" in printed
    assert "paper" not in printed  # whose figures are of CUB
    assert "PN" not in printed
    labels = ["basic/PN (as-written)", "basic/FC (strong)", "basic/PN (strong)"]
    assert [row.label for row in whole.rows] == labels
    assert read_results(tmp_path / "quick/zeroshot/cub.json").rows == whole.rows
    assert [whole.rows[0], whole.rows[2]] == first.rows
    told = whole.protocol
    assert told["selection"].startswith("none: the last step")


@pytest.mark.slow
def test_what_the_file_has_is_not_made_again_where_the_missing_is_asked_for(tmp_path, capsys):
    how = {"quick": True, "folder": tmp_path, "accelerator": "cpu"}
    first = reproduce("zeroshot/cub", Options(rows=("basic/FC (strong)",), **how))
    runs = tmp_path / "quick/runs"
    shutil.rmtree(runs)
    rows = ("basic/FC (strong)", "basic/PN (strong)")
    whole = reproduce("zeroshot/cub", Options(rows=rows, missing=True, **how))
    assert "lacks 1." in capsys.readouterr().err
    assert [run.name.split("-")[0] for run in runs.iterdir()] == ["pn"]
    assert whole.rows[0] == first.rows[0] and whole.rows[1].name == "basic/PN"
    shutil.rmtree(runs)
    assert reproduce("zeroshot/cub", Options(rows=rows, missing=True, **how)).rows == whole.rows
    assert not runs.exists()


@pytest.mark.slow
def test_a_row_without_a_metric_of_its_study_is_missing(tmp_path):
    how = {"rows": ("basic/FC (strong)",), "quick": True, "folder": tmp_path, "accelerator": "cpu"}
    whole = reproduce("zeroshot/tre", Options(**how))
    (row,) = whole.rows
    before = {k: v for k, v in row.metrics.items() if k != "tre_ratio_seen"}
    path = tmp_path / "quick/zeroshot/tre.json"
    write(path, replace(whole, rows=[replace(row, metrics=before)]))
    assert reproduce("zeroshot/tre", Options(missing=True, **how)).rows == whole.rows


@pytest.mark.slow
def test_a_command_that_is_cut_short_leaves_the_rows_it_made(tmp_path, monkeypatch):
    import polymodal.studies.reproduction as reproduction

    measure_row = reproduction.measure_row

    def cut(task):
        if task.recipe.name == "basic/FC+AC":
            raise KeyboardInterrupt
        return measure_row(task)

    monkeypatch.setattr(reproduction, "measure_row", cut)
    how = {"quick": True, "folder": tmp_path, "accelerator": "cpu"}
    with pytest.raises(KeyboardInterrupt):
        reproduce("zeroshot/cub", Options(rows=("basic/FC*",), **how))
    (row,) = read_results(tmp_path / "quick/zeroshot/cub.json").rows
    assert row.label == "basic/FC (as-written)"
