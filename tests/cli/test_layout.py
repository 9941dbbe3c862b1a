"""Layouts of a dataset, shown from the command line."""

from pathlib import Path

import pytest
from PIL import Image

from polymodal.cli import main
from toys import flat

SCENES = "scenes,size=32,count=20,objects=2-5"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def show(*options):
    return main(["layout", "show", SCENES, "--out", "sheet.png", *options])


def test_layouts_are_shown_beside_pictures(capsys):
    assert show("--count", "3", "--fewest", "1", "--least-area", "0") == 0
    message = flat(capsys.readouterr().err)
    assert "Wrote sheet.png: 3 layouts of train. Of its first 16 items: 16 layouts." in message
    with Image.open("sheet.png") as sheet:
        assert sheet.width > 1000


def test_what_is_left_out_is_counted(capsys):
    assert show("--count", "3", "--fewest", "3", "--least-area", "0") == 0
    message = flat(capsys.readouterr().err)
    assert "layouts (left out:" in message and "items with fewer than 3 objects)." in message


def test_parts_are_shown_as_boxes(capsys):
    data = "birds,size=32,train=70,val=20,test=60,test_seen=45"
    options = ["--count", "2", "--most", "15", "--least-area", "0", "--part-side", "0.1"]
    assert main(["layout", "show", data, "--out", "birds.png", *options]) == 0
    assert Path("birds.png").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", "0"], "--count must be 1 or more, not 0"),
        (["--fewest", "9"], "fewest is 9 but most is 8"),
        (
            ["--fewest", "6", "--least-area", "0"],
            "No layout of 16 items is left: 16 items with fewer",
        ),
        (
            ["--split", "tests"],
            "Unknown split of scenes,size=32,count=20,objects=2-5: 'tests'. Did you",
        ),
    ],
)
def test_mistakes_are_named(options, message, capsys):
    assert show(*options) == 1
    assert message in flat(capsys.readouterr().err)
    assert not Path("sheet.png").exists()


def test_data_without_boxes_are_refused(squares, capsys):
    assert main(["layout", "show", f"folder:{squares},size=32", "--out", "a.png"]) == 1
    assert "A layout needs the column 'layout'" in flat(capsys.readouterr().err)


def test_the_verb_of_layout_is_named(capsys):
    assert main(["layout", "draw"]) == 1
    assert "Unknown verb of layout 'draw'. Known: show." in flat(capsys.readouterr().err)
    assert main(["layout"]) == 0
    assert "polymodal layout show DATA" in capsys.readouterr().out
