"""Studies of CMIM: the quick path of each, and what rows take of scores."""

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.studies.figures.subset_grid import by_count, means_of, subset_grid
from polymodal.studies.reproduction import fitting, reproduce
from polymodal.studies.reproduction.options import Options
from polymodal.studies.reproduction.tasks import Task, run_folder
from polymodal.studies.result_files import Row
from polymodal.studies.seeds.cmim import QUICK_PHANTOMS
from polymodal.studies.seeds.cmim.cmim_recipes import by_both, by_image, of_all, of_one
from polymodal.studies.study import is_files, scale_for, study_named

FILMS = "xrays,size=32,train=16,val=8,test=8"
SCORES = {
    "dice_flair": 1.0,
    "dice_t1": 2.0,
    "dice_flair+t1": 3.0,
    "hd95_flair+t1": 4.0,
    "dice_alone": 1.5,
    "dice_mean": 2.0,
    "dice_all": 3.0,
}


def test_a_row_takes_the_scores_that_it_is_about():
    assert of_all(SCORES) == {"dice_flair+t1": 3.0, "hd95_flair+t1": 4.0, "dice_all": 3.0}
    alone = {"dice_t1": 2.0, "hd95_t1": 5.0}
    means = {"dice_alone": 2.0, "dice_mean": 2.0, "dice_all": 2.0}
    assert of_one({**alone, **means}) == alone
    told = {
        f"auc_{seen}{end}": value + len(end)
        for seen, value in (("image", 60.0), ("image+text", 80.0))
        for end in ("", "_low", "_high")
    }
    assert [by_image(told)[f"auc{end}"] for end in ("", "_low", "_high")] == [60, 64, 65]
    assert by_both(told)["auc"] == 80 and by_both(told)["auc_image"] == 60


def test_mean_filling_and_the_ceiling_are_one_run(tmp_path):
    rows = {row.name: row for row in scale_for(study_named("cmim/table2"), "phantoms").rows}

    def folder(name):
        task = Task(
            study="cmim/table2",
            recipe=rows[name],
            seed=0,
            data="phantoms",
            folder=tmp_path,
            accelerator="cpu",
        )
        return run_folder(task, rows[name])

    assert folder("mean") == folder("all") != folder("MLP")


@pytest.mark.parametrize("table", ["table2", "subsets", "table1", "ablation"])
def test_all_rows_of_a_task_have_one_budget_and_one_network(table):
    study = study_named(f"cmim/{table}")
    for name, scale in study.scales.items():
        for needs in ("mask", "targets"):
            rows = [row for row in scale.rows if needs in row.needs]
            assert len({row.training for row in rows}) <= 1, name
            shared = {"mask": "width levels lr dice_weight target augment decay"}
            names = shared.get(needs, "image_encoder convnet_width lr decay crop").split()
            assert len({tuple(getattr(row.model, n) for n in names) for row in rows}) <= 1, name


def test_files_have_their_own_rows_and_masks_of_several_classes_too():
    study = study_named("cmim/table2")
    assert is_files("lgg:slices.zip,size=64") and is_files("open-i:films.zip")
    assert scale_for(study, "lgg:slices.zip") is study.scales["small"]
    assert all(row.model.target == (3,) for row in study.scales["enhancing"].rows)
    assert all(row.model.target == () for row in study.scales["paper"].rows)
    with pytest.raises(PolymodalError, match="The scale 'paper' is not for phantoms"):
        scale_for(study, "phantoms", "paper")


def test_rows_are_for_data_that_have_their_columns(capsys):
    rows = study_named("cmim/ablation").scales["quick"].rows
    assert {row.block for row in fitting(rows, QUICK_PHANTOMS)} == {"segmentation"}
    assert "lacks a column that they need: none (findings), ll (findings)" in " ".join(
        capsys.readouterr().err.split()
    )
    films = [row for row in rows if row.block == "findings"]
    assert fitting(films, FILMS) == films
    with pytest.raises(PolymodalError, match=r"rows need the columns targets\+text, but it has "):
        fitting(films, QUICK_PHANTOMS)


def row(name, data="phantoms", seed=0, **dices):
    metrics = {f"dice_{own.replace('_', '+')}": dice for own, dice in dices.items()}
    counts = {f"patients_{own.replace('_', '+')}": 2.0 for own in dices}
    return Row(name=name, data=data, seed=seed, metrics={**metrics, **counts})


def test_the_grid_shows_means_over_seeds_of_every_subset(tmp_path):
    rows = [
        row("CMIM", t1=10.0, t2=20.0, t1_t2=40.0),
        row("CMIM", seed=1, t1=30.0, t2=20.0, t1_t2=60.0),
        row("HeMIS", t1=0.0, t2=0.0, t1_t2=0.0),
    ]
    known, means = means_of(rows)
    assert known == [("t1",), ("t2",), ("t1", "t2")]
    assert means == {"CMIM": [20.0, 20.0, 50.0], "HeMIS": [0.0, 0.0, 0.0]}
    assert by_count(known, means["CMIM"]) == {"of_1": 20.0, "of_2": 50.0}
    found = subset_grid(rows, tmp_path / "subsets.json")
    assert found["CMIM, phantoms"] == {"of_1": 20.0, "of_2": 50.0}
    low = np.asarray(Image.open(tmp_path / "subsets.png").convert("RGB"))
    subset_grid([row("CMIM", t1=99.0, t2=99.0, t1_t2=99.0), *rows[2:]], tmp_path / "high.json")
    high = np.asarray(Image.open(tmp_path / "high.png").convert("RGB"))
    assert low.shape == high.shape
    assert high.mean() < low.mean() - 3  # the higher, the darker


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Options of studies that share their runs."""
    folder = tmp_path_factory.mktemp("cmim")
    return lambda *rows, **more: Options(
        quick=True, seeds=(0,), accelerator="cpu", folder=folder, rows=rows, **more
    )


@pytest.mark.slow
def test_the_quick_path_of_segmentation(quick, capsys):
    some = ("CMIM", "mean", "MLP", "single t1", "all")
    found = reproduce("cmim/table2", quick(*some))
    rows = {row.name: row.metrics for row in found.rows}
    assert tuple(rows) == some
    assert {"dice_t1", "dice_t1c", "dice_alone", "dice_all"} <= rows["CMIM"].keys()
    assert {"dice_t1", "dice_t1_spread", "hd95_t1"} <= rows["single t1"].keys()
    assert not {"dice_flair", "dice_alone", "dice_all"} & rows["single t1"].keys()
    assert rows["all"]["dice_all"] == rows["mean"]["dice_all"]
    assert "dice_t1" not in rows["all"]
    capsys.readouterr()
    reproduce("cmim/table2", quick(*some, missing=True))
    assert "Of the 5 rows asked for" in (told := capsys.readouterr().err) and "lacks 0" in told


@pytest.mark.slow
def test_the_quick_path_of_every_subset(quick):
    options = quick()
    found = reproduce("cmim/subsets", options)
    assert [row.name for row in found.rows] == ["CMIM", "HeMIS", "ShaSpec"]
    assert set(study_named("cmim/subsets").metrics) <= found.rows[0].metrics.keys()
    assert found.findings[f"CMIM, {QUICK_PHANTOMS}"].keys() == {f"of_{n}" for n in range(1, 5)}
    assert (options.folder / "quick" / "cmim" / "subsets.png").is_file()


@pytest.mark.slow
def test_the_quick_path_of_findings(quick):
    found = reproduce("cmim/table1", quick())
    rows = {row.name: row.metrics for row in found.rows}
    assert list(rows) == ["image only", "TieNet", "CMIM", "late fusion"]
    for name, scores in rows.items():
        seen = "image+text" if name == "late fusion" else "image"
        assert scores["auc"] == scores[f"auc_{seen}"]
        assert scores["auc_low"] <= scores["auc_high"]


@pytest.mark.slow
def test_the_quick_path_of_the_ablation_has_rows_of_both_tasks(quick):
    found = reproduce("cmim/ablation", quick("gg*"))
    assert [(row.label, row.data) for row in found.rows] == [
        ("gg (segmentation)", QUICK_PHANTOMS),
        ("gg (findings)", FILMS),
    ]
    assert "bound_gg" in found.rows[0].metrics and "auc" in found.rows[1].metrics
