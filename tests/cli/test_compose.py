"""`polymodal compose` as people give it."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import polymodal
from ocgans import train_gan
from polymodal.cli import main
from polymodal.cli.compose import read_move
from polymodal.data.layout_files import read_layout
from polymodal.data.layout_moves import moved
from toys import flat, write_backbone

LAYOUT = """{"objects": [
  {"label": "red metal cube", "box": [0.1, 0.5, 0.4, 0.8]},
  {"label": "blue rubber sphere", "box": [0.6, 0.4, 0.9, 0.7]}]}"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    train_gan(folder / "run", write_backbone(folder / "seen", "resnet"), max_steps=2, val_every=2)
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("two.json").write_text(LAYOUT)
    return trained


def size(path: str) -> tuple[int, int]:
    with Image.open(path) as image:
        return image.size


def test_a_sheet_has_the_layout_and_its_pictures(run, capsys):
    assert main(["compose", str(run), "two.json", "--count", "3", "--seed", "2"]) == 0
    said = flat(capsys.readouterr().err)
    assert said.startswith("Wrote sheet.png: seed 2, truncation 1. Next: --seed 3 for others")
    before = size("sheet.png")
    assert main(["compose", str(run), "two.json", "--count", "7", "--out", "more.png"]) == 0
    assert size("more.png")[0] > before[0]


def test_pictures_in_a_folder_are_those_of_the_model(run):
    told = ["--count", "2", "--seed", "4", "--truncation", "0.5", "--out", "pictures/"]
    assert main(["compose", str(run), "two.json", *told]) == 0
    expected = polymodal.load(run).compose(read_layout("two.json"), 2, seed=4, truncation=0.5)
    for number, picture in enumerate(expected, 1):
        with Image.open(f"pictures/{number:04d}.png") as image:
            assert np.array_equal(np.asarray(image), picture)
    with Path("pictures/captions.csv").open() as file:
        assert [row["caption"] for row in csv.DictReader(file)] == [
            "two.json: 1 red metal cube · 2 blue rubber sphere"
        ] * 2


def test_pictures_of_another_size(run):
    assert (
        main(["compose", str(run), "two.json", "--count", "1", "--size", "80", "--out", "p/"]) == 0
    )
    assert size("p/0001.png") == (80, 80)


def test_an_object_goes_step_by_step(run):
    told = ["--move", "2:-0.5,0.1", "--count", "3"]
    assert main(["compose", str(run), "two.json", *told, "--out", "steps/"]) == 0
    steps = moved(read_layout("two.json"), 1, (-0.5, 0.1), 3)
    assert [step.boxes[0].tolist() for step in steps] == [steps[0].boxes[0].tolist()] * 3
    assert steps[2].boxes[1] == pytest.approx([0.1, 0.5, 0.4, 0.8])
    expected = polymodal.load(run).compose(steps)
    for number, picture in enumerate(expected, 1):
        with Image.open(f"steps/{number:04d}.png") as image:
            assert np.array_equal(np.asarray(image), picture)
    assert main(["compose", str(run), "two.json", *told, "--out", "strip.png"]) == 0
    assert main(["compose", str(run), "two.json", "--count", "3", "--out", "one.png"]) == 0
    assert size("strip.png")[1] > size("one.png")[1]  # layouts above pictures


def test_files_of_one_name_are_all_composed(run, capsys):
    Path("other").mkdir()
    Path("other/two.json").write_text(LAYOUT)
    files = ["two.json", "other/two.json"]
    assert main(["compose", str(run), *files, "--count", "1", "--out", "both/"]) == 0
    assert len(list(Path("both").glob("*.png"))) == 2
    assert "--move" not in capsys.readouterr().err  # which is for one layout


def test_layouts_of_the_runs_own_data(run, capsys):
    assert main(["compose", str(run), "--layouts", "2", "--count", "1", "--out", "own/"]) == 0
    with Path("own/captions.csv").open() as file:
        said = [row["caption"] for row in csv.DictReader(file)]
    assert len(said) == 2
    assert main(["compose", str(run), "--split", "nowhere"]) == 1
    assert "Unknown split" in capsys.readouterr().err


def test_a_class_that_the_model_does_not_know_is_named_with_its_file(run, capsys):
    Path("odd.json").write_text(LAYOUT.replace("red metal cube", "dragon"))
    assert main(["compose", str(run), "two.json", "odd.json"]) == 1
    assert "Unknown class in odd.json: 'dragon'" in flat(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["two.json", "--count", "0"], "--count and --layouts must be 1 or more"),
        (["two.json", "--truncation", "1.5"], "--truncation is from 0 to 1, not 1.5"),
        (["two.json", "--seed", "-1"], "--seed must be 0 or more"),
        (["two.json", "--size", "4"], "--size is from 8 to 4096 pixels, not 4"),
        (["--move", "1:0.1,0"], "--move is for one layout: give its file"),
        (["two.json", "--move", "left"], "--move takes OBJECT:ACROSS,DOWN"),
        (["two.json", "--move", "3:0.1,0"], "no object 3 to move: this layout has objects 1 to 2"),
        (["two.json", "--move", "1:0.9,0"], "object 1 (red metal cube) is outside the picture"),
        (["two.json", "--move", "1:0.1,0", "--count", "1"], "takes 2 pictures at least, not 1"),
        (["two.json", "--out", "sheet.jpg"], "A sheet is written as .png"),
        (["none.json"], "none.json"),
    ],
)
def test_what_is_refused(run, capsys, flags, told):
    assert main(["compose", str(run), *flags]) == 1
    assert told in flat(capsys.readouterr().err)
    assert not Path("sheet.png").exists()


def test_ways_are_read():
    assert read_move("1:0.25,-0.1") == (0, (0.25, -0.1))
