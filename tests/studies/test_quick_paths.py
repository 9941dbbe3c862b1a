"""The quick path of the studies of retrieval and of VLVAE; no test needs the runs of another test."""

import pytest

from polymodal.nn.regions import describe
from polymodal.runs import jobs
from polymodal.runs.region_building import compute_regions
from polymodal.runs.run_folder import Run
from polymodal.studies import result_files as results
from polymodal.studies.reproduction import reproduce
from polymodal.studies.reproduction.options import Options
from polymodal.studies.result_files import read
from polymodal.studies.study import default_data, study_named
from polymodal.systems.retrieval.sureness_probe import NAMES


@pytest.mark.slow
def test_the_quick_path_writes_a_table_and_goes_on(tmp_path, monkeypatch, capsys):
    out, opened, opening = tmp_path / "results.json", [], jobs.open_splits
    monkeypatch.setattr(jobs, "open_splits", lambda *a, **k: opened.append(a) or opening(*a, **k))
    how = {"quick": True, "rows": ("hardest",), "seeds": (0, 1), "folder": tmp_path, "out": out}
    found = reproduce("vse/negatives", Options(**how))
    assert len(opened) == 1  # for all runs
    assert [(row.name, row.seed) for row in found.rows] == [("hardest", 0), ("hardest", 1)]
    assert results.read(out).rows == found.rows
    printed = capsys.readouterr()
    assert "hardest" in printed.out and "mean nothing" in " ".join(printed.out.split())
    assert f"Wrote {out}. Next: polymodal results {out}" in printed.err
    monkeypatch.setattr(jobs, "fit", lambda *_, **__: pytest.fail("it trained again"))
    assert reproduce("vse/negatives", Options(**how)).rows == found.rows


SOME = ("VSE++", "GIE spherical mahalanobis", "GCIE ellipsoidal kl")


def quick_options(folder, **more):
    return Options(quick=True, seeds=(0,), accelerator="cpu", folder=folder, **more)


@pytest.fixture(scope="module")
def quick_folder(tmp_path_factory):
    """A folder in which studies share their runs; no test needs those of another test."""
    return tmp_path_factory.mktemp("reproduce")


@pytest.fixture(scope="module")
def table1(quick_folder):
    """Some rows of Table 1, whose runs the other studies of Gaussians use."""
    return reproduce("gaussian/table1", quick_options(quick_folder, rows=SOME))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "trained"),
    [("table1", 0), ("table2", 2), ("table3", 0), ("extent", 0), ("uncertainty", 0)],
)
def test_the_quick_path_of_every_gaussian_study(table, trained, table1, quick_folder, monkeypatch):
    """Of a few rows. Table 2 trains a second phase with two choices, the others use the runs of Table 1."""
    runs, fit = [], jobs.fit
    monkeypatch.setattr(jobs, "fit", lambda *a, **k: runs.append(a) or fit(*a, **k))
    study = study_named(f"gaussian/{table}")
    found = reproduce(f"gaussian/{table}", quick_options(quick_folder, rows=SOME))
    assert len(runs) == trained * len(SOME)
    assert [row.name for row in found.rows] == list(SOME)
    assert set(study.metrics) <= {name for row in found.rows for name in row.metrics}
    assert read(quick_folder / "quick" / f"gaussian/{table}.json").rows == found.rows
    chosen = found.protocol["by_row"][f"VSE++, {default_data(study, 'quick')[0]}"]
    assert chosen["chosen"]["lr"] in (2e-4, 5e-4)
    assert len(chosen["tried"]) == (4 if table == "table2" else 2)
    folders = (quick_folder / "quick" / "runs").iterdir()
    assert not any((run / "checkpoints").exists() for run in folders)


@pytest.mark.slow
def test_a_study_with_the_choices_of_another_tries_none(table1, quick_folder, tmp_path):
    chosen = quick_folder / "quick" / "gaussian/table1.json"
    found = reproduce("gaussian/extent", quick_options(tmp_path, rows=SOME, chosen=chosen))
    assert len(list((tmp_path / "quick" / "runs").iterdir())) == len(found.rows) == len(SOME)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table1", "table2"])
def test_the_quick_path_of_the_vlvae_tables(table, quick_folder):
    study = study_named(f"vlvae/{table}")
    found = reproduce(f"vlvae/{table}", quick_options(quick_folder))
    assert [row.name for row in found.rows] == [row.name for row in study.paper.rows]
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
    found = reproduce(f"vlvae/{figure}", quick_options(quick_folder))
    (row,) = found.rows
    assert row.metrics
    drawn = quick_folder / "quick" / f"vlvae/{figure}-{row.name.replace(' ', '-')}-0.png"
    assert drawn.read_bytes()[1:4] == b"PNG"


@pytest.mark.slow
def test_the_quick_path_beyond_the_paper(quick_folder):
    found = reproduce("beyond/losses", quick_options(quick_folder))
    assert {row.name for row in found.rows} >= {"VSE++ infonce", "GCIE wasserstein sigmoid"}
    assert "caption_error_auroc" in found.rows[-1].metrics


@pytest.mark.slow
def test_the_quick_path_of_grounding_trains_one_language_model_for_its_rows(tmp_path):
    some = ("none/random", "reranked/pretrained")
    found = reproduce("grounding/table2", quick_options(tmp_path, rows=some))
    assert [row.name for row in found.rows] == list(some)
    assert {"r1", "pointing", "upper_bound", "largest", "bound"} <= found.rows[0].metrics.keys()
    kinds = sorted(path.name.split("-")[0] for path in (tmp_path / "quick" / "runs").iterdir())
    assert kinds == ["grounding", "grounding", "mlm"]


@pytest.mark.slow
def test_the_bound_of_grounding_is_drawn_and_the_baselines_stand_beside(tmp_path):
    """Both studies on regions of the user's, which only models of grounding are given."""
    data = "scenes,size=32,train=60,val=12,test=12"
    compute_regions(data, tmp_path / "regions", describe(finder="windows", count=9))
    options = {"regions": tmp_path / "regions", "data": (data,)}
    figure = reproduce("grounding/figure4", quick_options(tmp_path, rows=("linear",), **options))
    assert figure.findings.keys() == {f"linear, {data}"}
    assert (tmp_path / "quick" / "grounding" / "figure4.png").is_file()
    (row,) = reproduce("grounding/baselines", quick_options(tmp_path, **options)).rows
    assert row.metrics.keys() >= {"central_r1", "largest", "random_r1", "entropy_auroc"}
    models = [Run(path).config for path in (tmp_path / "quick" / "runs").iterdir()]
    assert {model["system"] for model in models if "regions" in model} == {"grounding"}
    assert {model["system"] for model in models if "regions" not in model} == {"mlm"}


@pytest.mark.slow
def test_claims_of_a_search_are_compared_with_what_is_observed(tmp_path):
    found = reproduce("search/calibration", quick_options(tmp_path))
    assert found.findings.keys() == {f"{found.rows[0].data}, {size}" for size in NAMES}
    assert found.rows[0].metrics["large_observed"] < found.rows[0].metrics["small_observed"]
    assert (tmp_path / "quick" / "search" / "calibration.png").is_file()
