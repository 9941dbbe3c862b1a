"""Studies: their recipes are whole, the quick path runs and goes on, protocols that differ are said."""

import pytest

from polymodal import results, studies
from polymodal.errors import PolymodalError
from polymodal.studies import common, named, names, reproduce
from polymodal.studies.gaussian import TABLE_1


def test_every_study_has_recipes_a_quick_path_and_a_line():
    assert {"vse/coco", "vse/negatives", "gaussian/table1"} <= set(names())
    for name in names():
        study = named(name)
        assert study.about
        assert [r.name for r in study.recipes] == [r.name for r in study.quick]
        assert len({r.name for r in study.recipes}) == len(study.recipes)


def test_an_unknown_study_names_the_nearest():
    with pytest.raises(
        PolymodalError, match=r"Unknown study 'vse/cocco'\. Did you mean 'vse/coco'"
    ):
        reproduce("vse/cocco")


def test_data_must_be_given_where_the_study_has_none():
    with pytest.raises(PolymodalError, match="vse/coco needs data"):
        reproduce("vse/coco")


def test_the_papers_sums_are_those_of_its_recalls():
    rows = {row.name: row.metrics for row in named("gaussian/table1").paper}
    assert rows["VSE++"]["rsum"] == pytest.approx(446.7)
    assert rows["GCIE ellipsoidal wasserstein"]["rsum"] == pytest.approx(453.1)
    assert list(rows) == list(TABLE_1)


def test_all_rows_of_a_table_have_the_same_budget():
    recipes = named("gaussian/table1").recipes
    assert len({recipe.training for recipe in recipes}) == 1
    assert len({(r.model.embed_dim, r.model.hidden, r.model.lr) for r in recipes}) == 1


@pytest.mark.slow
def test_the_quick_path_writes_a_table_and_goes_on(tmp_path, monkeypatch, capsys):
    out = tmp_path / "results.json"
    found = reproduce("vse/negatives", quick=True, seeds=(0, 1), folder=tmp_path, out=out)
    assert [(row.name, row.seed) for row in found.rows][:2] == [("hardest", 0), ("hardest", 1)]
    assert results.read(out).rows == found.rows
    assert "hardest" in capsys.readouterr().out
    monkeypatch.setattr(studies.jobs, "fit", lambda *_, **__: pytest.fail("it trained again"))
    again = reproduce("vse/negatives", quick=True, seeds=(0, 1), folder=tmp_path, out=out)
    assert again.rows == found.rows


def test_protocols_that_differ_are_listed_by_row():
    shared = {"data": "scenes", "seed": 0}
    assert common({"a": {**shared}, "b": {**shared, "seed": 1}}) == {"data": "scenes"}
    found = common({"a": {**shared, "similarity": "cosine"}, "b": {**shared, "similarity": "kl"}})
    assert found["by_row"] == {"a": {"similarity": "cosine"}, "b": {"similarity": "kl"}}
