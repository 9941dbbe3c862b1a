"""`polymodal evaluate`: where scores are written, what guessing scores, and what is told beside them."""

import csv
import json
import re

import pytest

from polymodal.base.tables import Table
from polymodal.cli import main
from polymodal.cli.evaluate import chance_column, remarks
from polymodal.metrics.recall import chance
from polymodal.runs import jobs
from toys import flat, train_squares, write_squares


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder)
    return folder


def test_the_same_scores_as_json_and_csv(run, tmp_path, capsys):
    for name in ("scores.json", "scores.csv"):
        assert main(["evaluate", str(run), "--split", "val", "--out", str(tmp_path / name)]) == 0
        assert f"Wrote {tmp_path / name}." in flat(capsys.readouterr().err)
    scores = json.loads((tmp_path / "scores.json").read_text())["scores"]["val"]
    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["split"] for row in rows} == {"val"}
    assert {row["metric"]: float(row["value"]) for row in rows} == scores
    assert scores.keys() >= {"i2t_r1", "i2t_map_at_r", "i2t_r_precision", "unknown_words"}


@pytest.mark.parametrize("name", ["scores.txt", "scores", "scores.JSON"])
def test_other_endings_are_refused_before_anything_is_done(
    run, tmp_path, capsys, monkeypatch, name
):
    monkeypatch.setattr(jobs, "evaluate", lambda *_, **__: pytest.fail("it was computed"))
    assert main(["evaluate", str(run), "--out", str(tmp_path / name)]) == 1
    assert f"written as .json or .csv, but --out is {tmp_path / name}" in capsys.readouterr().err


def test_scores_are_written_before_anything_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.setattr(Table, "print", lambda *_, **__: pytest.fail("printed first"))
    with pytest.raises(pytest.fail.Exception, match="printed first"):
        main(["evaluate", str(run), "--out", str(tmp_path / "scores.json")])
    assert (tmp_path / "scores.json").is_file()


def test_a_folder_is_no_file_for_scores(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(jobs, "evaluate", lambda *_, **__: pytest.fail("it was computed"))
    (tmp_path / "a.json").mkdir()
    (tmp_path / "file").touch()
    for out, message in (("a.json", "is a folder, but a file"), ("file/a.json", "file is a file.")):
        assert main(["evaluate", str(run), "--out", str(tmp_path / out)]) == 1
        assert message in capsys.readouterr().err


def test_strange_words_and_another_size_are_told(run, tmp_path, capsys):
    other = write_squares(tmp_path / "other", train=4, val=4, test=4)
    text = (other / "captions.csv").read_text().replace("something", "anything")
    (other / "captions.csv").write_text(text)
    assert main(["evaluate", str(run), "--data", f"folder:{other},size=48"]) == 0
    told = flat(capsys.readouterr().err)
    # half of the captions have six words, the others two, one of which is new
    assert "12.5 % of the words in the captions of test are not in the vocabulary of" in told
    assert "The images are 48×48, but the model was trained on 32×32" in told
    assert "Add ',size=32' to --data" in told


def test_captions_whose_every_word_is_new_are_scored(run, tmp_path):
    other = write_squares(tmp_path / "other", train=4, val=4, test=4)
    text = (other / "captions.csv").read_text()
    (other / "captions.csv").write_text(re.sub(",.*,test", ",glorp,test", text))
    found = jobs.evaluate(run, data=f"folder:{other},size=32")
    assert found["scores"]["test"]["unknown_words"] == 100


def test_nothing_is_told_of_the_runs_own_data(run):
    found = jobs.evaluate(run)
    assert remarks(run, found) == []


def test_guessing_is_a_column():
    scores = {"i2t_r1": 9.0, "t2i_r10": 20.0, "rsum": 99.0, "fold_t2i_r1": 1.0, "i2t_hubness": 1.0}
    counts = {"images": 20, "captions": 100, "hash": "0"}
    found = {"scores": {"test": scores}, "protocol": {"splits": {"test": counts}, "fold": 10}}
    column = chance_column(found)["chance"]
    assert set(column) == {"i2t_r1", "t2i_r10", "rsum", "fold_t2i_r1"}
    assert column["rsum"] == chance(20, 5)["rsum"]
    assert (column["t2i_r10"], column["fold_t2i_r1"]) == (50, 10)
    del counts["captions"]
    assert chance_column(found) == {}


def test_what_is_wrong_with_a_model_is_named(run, capsys, monkeypatch):
    from polymodal.systems.retrieval import Retrieval

    monkeypatch.setattr(Retrieval, "symptoms", lambda self, scores: ["Its variances are stuck."])
    assert main(["evaluate", str(run)]) == 0
    assert "Its variances are stuck." in capsys.readouterr().err
    assert jobs.evaluate(run)["symptoms"] == ["Its variances are stuck."]
