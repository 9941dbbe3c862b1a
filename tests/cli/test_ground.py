"""`polymodal ground`: phrases of a caption are found in a picture, drawn, and written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.runs import jobs
from polymodal.systems.grounding import grounding
from polymodal.systems.grounding.questions import asked
from polymodal.training.training_config import Training

DATA = "scenes,size=32,train=30,val=8,test=8,objects=2-3"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "grounding"
    config = grounding.Config(word_width=16, word_layers=1, word_heads=2, dim=16, proposals=6)
    training = Training(max_steps=3, batch_size=20, accelerator="cpu")
    jobs.train("grounding", config, training, data=DATA, run=folder)
    return folder


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    pixels = np.full((60, 90, 3), 200, np.uint8)
    pixels[20:40, 30:50] = (200, 30, 30)
    Image.fromarray(pixels).save(path)
    return path


def test_a_run_has_the_scores_of_grounding(run: Path) -> None:
    scores = json.loads((run / "metrics.json").read_text())["scores"]["test"]
    assert {"r1", "r5", "r10", "pointing", "upper_bound", "largest", "random", "bound"} <= set(
        scores
    )
    assert scores["upper_bound"] == 100
    kinds = [v for k, v in scores.items() if k.startswith("phrases_")]
    assert max(kinds) <= scores["phrases"] <= sum(kinds)  # a phrase of two types counts for both


def test_a_photo_is_drawn_written_and_printed(
    run: Path, photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = {kind: tmp_path / f"found.{kind}" for kind in ("png", "html", "json")}
    files = ["--out", str(out["png"]), "--html", str(out["html"]), "--json", str(out["json"])]
    caption = "a [red] cube left of a small ball"
    command = ["ground", str(run), str(photo), caption, "--finder", "windows", "--first", "2"]
    assert main([*command, *files]) == 0
    told = json.loads(out["json"].read_text())[0]
    assert told["caption"] == "a red cube left of a small ball"
    (phrase,) = told["phrases"]
    assert (phrase["text"], len(phrase["boxes"])) == ("red", 2)
    assert all(0 <= x <= 90 and 0 <= y <= 60 for x, y, *_ in phrase["boxes"])
    with Image.open(out["png"]) as drawn:
        assert drawn.width > 512
    assert "red cube left of" in out["html"].read_text()
    assert "red" in capsys.readouterr().out


def test_nouns_are_found_where_nothing_is_marked_and_boxes_may_be_given(
    run: Path, photo: Path
) -> None:
    model = polymodal.load(run)
    boxes = [[30, 20, 50, 40], [20, 0, 70, 60]]
    answer = model.ground(photo, "a small red cube and two balls", boxes=boxes)
    assert [phrase.text for phrase in answer] == ["small red cube", "balls"]
    for phrase in answer:
        np.testing.assert_allclose(sorted(phrase.boxes), sorted(boxes), atol=1e-3)
        assert 0 <= phrase.entropy <= np.log(2) + 1e-6
        assert phrase.attention[0] >= phrase.attention[1]


def test_without_a_picture_the_run_shows_examples_of_its_own(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["ground", str(run), "--count", "2", "--html", str(page)]) == 0
    assert page.read_text().count("<article") == 2
    assert "attention" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["PHOTO"], "Give an image and its caption in quotes, or neither, but not 1"),
        (
            ["PHOTO", "a red cube"],
            "which nothing finds in a new picture. Add --finder selective-search",
        ),
        (["--box", "1,2,30,40"], "--finder and --box are for an image of your own"),
        (["--finder", "windows"], "--finder and --box are for an image of your own"),
        (["PHOTO", "of it", "--finder", "windows"], "No noun was found in 'of it'"),
        (["PHOTO", "a cube", "--box", "1,2,3"], "--box takes x0,y0,x1,y1 in pixels"),
        (["PHOTO", "a cube", "--box", "5,5,1,9"], "Box 1 is [5.0, 5.0, 1.0, 9.0], but a box is"),
        (["none.png", "a cube", "--finder", "windows"], "There is no image at none.png"),
        (["--count", "0"], "--first and --count must be 1 or more"),
        (["--split", "tst"], "Did you mean 'test'?"),
        (["PHOTO", "a cube", "--box", "1,2,9,9", "--finder", "windows"], "--box and --finder both"),
        (["--out", "found.html"], "found.html would be a .png file: give it that ending"),
        (["--html", "found.png"], "found.png would be a .html file: give it that ending"),
        (["PHOTO", "a cube", "--out", "PLACE"], "is a folder, but a file is to be written"),
        (
            ["PHOTO", "a cube", "--box", "200,200,300,300"],
            "Box 1 is [200.0, 200.0, 300.0, 300.0], outside of what",
        ),
        (["PHOTO", "a [ ] cube", "--box", "30,20,50,40"], "The phrase ' ' has no words. Put"),
        (["PHOTO", "a zyx", "--box", "30,20,50,40"], "The model knows no word of 'zyx'"),
        (["PHOTO", "a [zyx] cube", "--box", "30,20,50,40"], "The model knows no word of 'zyx'"),
        (
            ["PHOTO", "a " * 200 + "[cube]", "--box", "30,20,50,40"],
            "128 tokens of a caption, but 'cube'",
        ),
    ],
)
def test_mistakes_are_one_plain_message(
    arguments: list[str],
    message: str,
    run: Path,
    photo: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [{"PHOTO": str(photo), "PLACE": str(tmp_path)}.get(word, word) for word in arguments]
    assert main(["ground", str(run), *given]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"boxes": [[1, 2, 3]]}, r"rows of x0, y0, x1, y1, but these have the shape"),
        ({"boxes": [["a", 0, 1, 2]]}, r"Boxes are rows of x0, y0, x1, y1 in pixels, not \[\['a'"),
        ({"first": -1}, "first must be 1 or more, not -1"),
    ],
)
def test_what_is_no_question_is_refused(
    run: Path, photo: Path, given: dict[str, Any], message: str
) -> None:
    usual: dict[str, Any] = {"boxes": [[30, 20, 50, 40]]}
    with pytest.raises(PolymodalError, match=message):
        polymodal.load(run).ground(photo, "a cube", **usual | given)


def test_a_caption_is_a_text() -> None:
    with pytest.raises(PolymodalError, match=r"A caption is a text, such as .*, not None"):
        asked(None, {})


def test_words_that_it_never_saw_are_named(
    run: Path, photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["ground", str(run), str(photo), "a zyx cube \x1b[31m", "--box", "30,20,50,40"]
    assert main([*command, "--json", str(tmp_path / "found.json")]) == 0
    (told,) = json.loads((tmp_path / "found.json").read_text())
    assert told["unknown"][0] == "zyx"
    assert told["phrases"][0]["entropy"] == 0
    out = capsys.readouterr().out
    assert "The model has never seen: zyx, " in out
    assert "\x1b" not in out
    assert " 0.0 │" in out
