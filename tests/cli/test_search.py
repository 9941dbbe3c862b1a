"""`polymodal index` and `polymodal search` as people give them."""

import json
import shutil
from pathlib import Path

import pytest

from polymodal.base.tables import Table
from polymodal.cli import main
from polymodal.runs import index_asking
from toys import flat, train_squares


@pytest.fixture(scope="module")
def places(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    train_squares(squares, folder / "run")
    out = str(folder / "index")
    flags = ["--split", "val", "test", "--kind", "hnsw", "--effort", "32"]
    assert main(["index", str(folder / "run"), "--out", out, *flags]) == 0
    return folder


def test_an_index_has_the_settings_that_were_given(places):
    about = json.loads((places / "index" / "index.json").read_text())
    assert about["settings"]["kind"] == "hnsw"
    assert about["settings"]["effort"] == 32
    assert list(about["origin"]["splits"]) == ["val", "test"]
    assert about["count"] == 32


def test_search_prints_writes_and_shows(places, squares, tmp_path, capsys):
    files = ["--json", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.html")]
    asked = ["a red glorp", "something blue", "--image", str(squares / "val-002.png"), "-k", "3"]
    assert main(["search", str(places / "index"), *asked, "--where", "split=val", *files]) == 0
    printed = capsys.readouterr()
    assert "“a red glorp”" in printed.out
    assert "of validation queries" in flat(printed.out)
    assert "The model has never seen: glorp." in printed.out
    assert "not known how sure: no labels say which images are alike." in flat(printed.out)
    found = json.loads((tmp_path / "a.json").read_text())["answers"]
    assert [answer["query"] for answer in found] == [*asked[:2], str(squares / "val-002.png")]
    assert [len(answer["hits"]) for answer in found] == [3, 3, 3]
    assert all(hit["metadata"]["split"] == "val" for answer in found for hit in answer["hits"])
    assert found[2]["hits"][0]["id"] == "val-002.png"
    assert "val-002.png" in printed.out
    assert (tmp_path / "a.html").read_text("utf-8").count("<img") == 10
    assert f"Wrote {tmp_path / 'a.html'}." in flat(printed.err)


def test_search_finds_pictures_from_another_folder(places, squares, tmp_path, monkeypatch):
    monkeypatch.chdir(squares.parent)
    out, data = str(tmp_path / "index"), f"folder:{squares.name},size=32"
    assert main(["index", str(places / "run"), "--out", out, "--data", data]) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["search", "index", "something red", "-k", "2", "--html", "a.html"]) == 0
    assert Path("a.html").read_text("utf-8").count("<img") == 2


def test_search_takes_how_widely_to_look(places, monkeypatch):
    asked, ask = [], index_asking.ask_index

    def noting(index, **how):
        asked.append({name: how[name] for name in ("probes", "effort", "oversample")})
        return ask(index, **how)

    monkeypatch.setattr(index_asking, "ask_index", noting)
    index = str(places / "index")
    assert main(["search", index, "red", "--effort", "64", "--oversample", "2"]) == 0
    assert main(["search", index, "red", "--probes", "5"]) == 0
    assert asked == [
        {"probes": None, "effort": 64, "oversample": 2},
        {"probes": 5, "effort": None, "oversample": None},
    ]


def test_help_names_what_is_asked_for(capsys):
    for verb, line in (("index", "[OPTIONS] RUN"), ("search", "[OPTIONS] INDEX [TEXT ...]")):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert f"usage: polymodal {verb} [-h] {line}\n" in capsys.readouterr().out


def test_a_run_that_was_moved(places, tmp_path, capsys):
    shutil.copytree(places / "run", tmp_path / "run")
    shutil.copytree(places / "index", tmp_path / "index")
    path = tmp_path / "index" / "index.json"
    path.write_text(path.read_text().replace(str(places / "run"), str(tmp_path / "old")))
    assert main(["search", str(tmp_path / "index"), "red"]) == 1
    assert "is not at" in capsys.readouterr().err
    assert main(["search", str(tmp_path / "index"), "red", "--run", str(tmp_path / "run")]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "INDEX", "red", "-k", "0"], "k must be 1 or more, not 0"),
        (["search", "INDEX", "red", "--effort", "0"], "effort must be 1 or more, not 0"),
        (["search", "INDEX", "red", "-k", "33"], "k is 33, but the index has 32 items"),
        (["search", "INDEX", ""], "The text '' has no words"),
        (["search", "INDEX"], "Ask for something"),
        (["search", "INDEX", "glorp"], "knows no word of 'glorp'"),
        (["search", "INDEX", "--image", "no.png"], "There is no image at no.png"),
        (["search", "NOWHERE", "red"], "There is no index in NOWHERE"),
        (["search", "RUN", "red"], "There is no index in RUN"),
        (["search", "INDEX", "red", "--run", "NOWHERE"], "is no run"),
        (["search", "INDEX", "red", "--where", "split"], "--where takes key=value"),
        (["search", "INDEX", "red", "--where", "=val"], "--where takes key=value"),
        (["search", "INDEX", "red", "--where", "a=1", "--where", "a=2"], "--where has a twice"),
        (["search", "INDEX", "red", "--where", "splt=val"], "Did you mean 'split'"),
        (["search", "INDEX", "red", "--html", "RUN"], "RUN is a folder, but a file is to be"),
        (["search", "INDEX", "red", "--json", "RUN"], "RUN is a folder, but a file is to be"),
        (["search", "INDEX", "red", "--json", "OUT", "--html", "OUT"], "both name OUT"),
        (["search", "INDEX", "red", "--device", "meta"], "The device 'meta' cannot be used"),
        (["index", "RUN", "--out", "RUN/config.yaml"], "config.yaml is a file. Name another"),
        (["index", "NOWHERE", "--out", "OUT"], "is no run"),
        (["index", "RUN", "--out", "OUT", "--split", "tets"], "Did you mean 'test'"),
        (["index", "RUN", "--out", "OUT", "--links", "0"], "links must be 1 or more"),
        (["index", "RUN", "--out", "OUT", "--store", "x"], "A store is milvus:FILE.db"),
        (["index", "RUN", "--out", "INDEX"], "holds another index"),
        (["index", "RUN", "--out", "OUT", "--device", "cdua"], "The device 'cdua' cannot be used"),
    ],
)
def test_mistakes_are_one_plain_message(arguments, message, places, tmp_path, capsys):
    there = {"INDEX": places / "index", "RUN": places / "run", "OUT": tmp_path / "out",
             "NOWHERE": tmp_path / "nowhere"}  # fmt: skip
    given = arguments
    for name, place in there.items():
        given = [argument.replace(name, str(place)) for argument in given]
        message = message.replace(name, str(place))
    assert main(given) == 1
    assert message in flat(capsys.readouterr().err)


HOSTILE = "red [/] [sic] \x1b[31m\r\x07"


def test_a_query_does_nothing_to_a_terminal(places, capsys):
    assert main(["search", str(places / "index"), HOSTILE, "-k", "1"]) == 0
    printed = capsys.readouterr().out
    assert r"“red [/] [sic] \x1b[31m\r\x07”" in printed
    assert not {"\x1b", "\r", "\x07"} & set(printed)


def test_a_mistake_does_nothing_to_a_terminal(places, capsys):
    assert main(["search", HOSTILE, "red"]) == 1
    with pytest.raises(SystemExit):  # the parser quotes what it does not know
        main(["search", str(places / "index"), "red", f"--{HOSTILE}"])
    printed = capsys.readouterr().err
    assert printed.count(r"[/] [sic] \x1b[31m\r\x07") >= 2
    assert not {"\x1b", "\r", "\x07"} & set(printed)


def test_files_are_written_before_anything_is_printed(places, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Table, "print", lambda *_, **__: pytest.fail("printed first"))
    files = [tmp_path / "a.json", tmp_path / "a.html"]
    given = [
        "search",
        str(places / "index"),
        "red",
        "--json",
        str(files[0]),
        "--html",
        str(files[1]),
    ]
    with pytest.raises(pytest.fail.Exception, match="printed first"):
        main(given)
    assert all(file.is_file() for file in files)
    assert capsys.readouterr().out == ""
