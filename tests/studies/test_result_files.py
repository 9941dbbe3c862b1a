"""Result files: one schema, summaries over seeds, pages kept up to date."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.cli.results import study_metrics
from polymodal.studies.result_files import (
    PaperRow,
    Results,
    Row,
    beside_paper,
    only,
    read_results,
    render_into,
    summary,
    write,
)

RESULTS = Results(
    study="table 1",
    command="polymodal reproduce vse/table1",
    hardware={"cores": 2},
    versions={"torch": "2.13"},
    protocol={"fold": 1000},
    paper=[PaperRow(name="VSE++", metrics={"rsum": 400.0})],
    rows=[
        Row(name="VSE++", data="scenes", seed=0, metrics={"rsum": 100.0, "t2i_r1": 3.0}),
        Row(name="VSE++", data="scenes", seed=1, metrics={"rsum": 104.0}),
        Row(name="VSE0", data="scenes", seed=0, metrics={"rsum": 90.0}),
        Row(name="VSE0", data="scenes", seed=0, metrics={"rsum": 95.0}, block="size 64"),
    ],
)
MARKED = "# A page\n\n<!-- results: vse.json rsum -->\nold\n<!-- end -->\n\nkept\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "vse.json", RESULTS)
    return tmp_path / "vse.json"


def test_round_trip(path):
    assert read_results(path) == RESULTS


def test_the_schema(path):
    content = json.loads(path.read_text())
    assert set(content) == {"study", "command", "hardware", "versions", "protocol", "paper", "rows"}
    assert content["paper"] == [{"name": "VSE++", "metrics": {"rsum": 400.0}}]
    assert content["rows"][1] == {
        "name": "VSE++",
        "data": "scenes",
        "seed": 1,
        "metrics": {"rsum": 104.0},
    }
    assert content["rows"][3]["block"] == "size 64"


def test_the_paper_stands_beside_every_block(path):
    table = beside_paper(RESULTS, "rsum")
    assert table.header == ["name", "paper", "ours", "size 64"]
    assert table.rows == [
        ["VSE++", "400.00", "102.00 ± 2.83", "–"],
        ["VSE0", "–", "90.00", "95.00"],
    ]
    page = path.parent / "page.md"
    page.write_text(MARKED.replace("json rsum", "json data=scenes beside=rsum"))
    assert render_into(page, path.parent) == 1
    assert "| VSE0 | – | 90.00 | 95.00 |" in page.read_text()
    page.write_text(MARKED.replace("json rsum", "json besides=rsum"))
    with pytest.raises(PolymodalError, match=r"'besides'\. Did you mean 'beside'"):
        render_into(page, path.parent)


def test_what_was_found_of_all_rows_is_kept(tmp_path):
    whole = replace(RESULTS, findings={"strong": {"r": -0.9, "rows": 40}})
    write(tmp_path / "found.json", whole)
    assert read_results(tmp_path / "found.json") == whole
    assert RESULTS.rows[3].label == "VSE0 (size 64)"


@pytest.mark.parametrize("key", ["study", "protocol", "paper", "rows"])
def test_a_missing_key_is_named(path, key):
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(
        PolymodalError, match=f"is no result file: it lacks {key}\\. It needs study"
    ):
        read_results(path)


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_what_is_no_result_file(path, text):
    path.write_text(text)
    with pytest.raises(PolymodalError, match=r"vse\.json is no result file"):
        read_results(path)


def test_the_metrics_of_a_run_are_no_result_file(tmp_path):
    path = tmp_path / "fc" / "metrics.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"scores": {}, "curves": [], "protocol": {}}))
    with pytest.raises(PolymodalError) as caught:
        read_results(path)
    assert str(caught.value) == (
        f"{path} is no result file: it holds the scores of one run, which "
        f"`polymodal evaluate {path.parent}` prints."
    )


def test_a_row_with_a_wrong_part_is_no_result(path):
    content = json.loads(path.read_text())
    content["rows"][0]["sead"] = 0
    path.write_text(json.dumps(content))
    with pytest.raises(PolymodalError, match=r"is no result file: .*sead"):
        read_results(path)


def test_an_absent_file(tmp_path):
    with pytest.raises(PolymodalError, match=r"There is no result file at .*none\.json"):
        read_results(tmp_path / "none.json")


def test_mean_and_spread_over_seeds_beside_the_paper():
    table = summary(RESULTS)
    assert table.header == ["name", "seeds", "rsum", "t2i_r1"]
    assert table.rows == [
        ["paper: VSE++", "–", "400.00", "–"],
        ["VSE++", "2", "102.00 ± 2.83", "3.00"],
        ["VSE0", "1", "90.00", "–"],
        ["VSE0 (size 64)", "1", "95.00", "–"],
    ]


def test_several_datasets_have_a_column_and_one_can_be_asked_for(tmp_path):
    elsewhere = replace(RESULTS, rows=[*RESULTS.rows, replace(RESULTS.rows[0], data="coco,a=1")])
    table = summary(elsewhere)
    assert table.header[:3] == ["name", "data", "seeds"]
    assert ["VSE++", "scenes"] in [row[:2] for row in table.rows]
    assert ["VSE++", "coco,a=1"] in [row[:2] for row in table.rows]
    write(tmp_path / "r.json", elsewhere)
    page = tmp_path / "page.md"
    page.write_text("<!-- results: r.json data=coco rsum -->\n<!-- end -->\n")
    render_into(page, tmp_path)
    assert [line.split(" | ")[0] for line in page.read_text().splitlines() if "VSE" in line] == [
        "| paper: VSE++",
        "| VSE++",
    ]
    page.write_text("<!-- results: r.json data=coca rsum -->\n<!-- end -->\n")
    with pytest.raises(PolymodalError, match=r"dataset of .* 'coca'"):
        render_into(page, tmp_path)


def test_the_paper_directly_above_our_rows():
    paper = [PaperRow(name=name, metrics={"rsum": 1.0}) for name in ("VSE0", "theirs", "VSE++")]
    table = summary(replace(RESULTS, paper=paper), ["rsum"], together=True)
    assert [row[0] for row in table.rows] == [
        "paper: theirs",
        "paper: VSE++",
        "VSE++",
        "paper: VSE0",
        "VSE0",
        "VSE0 (size 64)",
    ]


def test_some_rows_with_what_the_paper_says_of_them():
    other = replace(RESULTS.rows[2], data="coco")
    found = only(replace(RESULTS, rows=[*RESULTS.rows, other]), ["VSE0"], ["scenes"])
    assert found.rows == [RESULTS.rows[2]]
    assert found.paper == []
    assert only(RESULTS, ["VSE++"], ["scenes"]).paper == RESULTS.paper


def test_the_title_has_the_data():
    other = replace(RESULTS.rows[0], data="coco")
    assert RESULTS.title == "table 1 on scenes"
    assert replace(RESULTS, rows=[*RESULTS.rows, other]).title == "table 1 on scenes and coco"
    assert replace(RESULTS, rows=[]).title == "table 1"


def test_chosen_metrics():
    assert summary(RESULTS, ["t2i_r1"]).header == ["name", "seeds", "t2i_r1"]
    with pytest.raises(PolymodalError, match=r"metric of table 1: 'rsun'\. Did you mean 'rsum'"):
        summary(RESULTS, ["rsun"])


def test_only_what_is_between_the_marks_is_rewritten(path, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(MARKED)
    assert render_into(page, tmp_path) == 1
    table = summary(RESULTS, ["rsum"]).markdown()
    assert page.read_text() == MARKED.replace("old", table)
    before = page.stat().st_mtime_ns
    assert render_into(page, tmp_path) == 1
    assert page.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MARKED.replace("<!-- end -->", ""), "the last table has no '<!-- end -->'"),
        (MARKED.replace("old", "<!-- results: vse.json -->"), "line 4: the table before has no"),
        (MARKED.replace("vse.json", "none.json"), "There is no result file"),
        (MARKED.replace("rsum", "sum"), "Unknown metric"),
    ],
)
def test_broken_pages_are_left_as_they_are(path, tmp_path, text, message):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(PolymodalError, match=message):
        render_into(page, tmp_path)
    assert page.read_text() == text


def test_an_absent_page(tmp_path):
    with pytest.raises(PolymodalError, match=r"There is no page at .*none\.md"):
        render_into(tmp_path / "none.md", tmp_path)


def test_a_file_without_some_of_its_study_s_metrics_is_shown_by_the_others():
    rows = [Row(name="basic/FC", data="cub", seed=0, metrics={"zsl_top1": 36.7, "tre_ratio": 1.0})]
    found = replace(RESULTS, study="zeroshot/tre", rows=rows)
    assert study_metrics(found) == ("zsl_top1", "tre_ratio")
    assert study_metrics(replace(found, study="someone/else")) is None
