"""`polymodal recognise` as people give it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import polymodal
from polymodal.cli import main
from toys import flat, train_squares

MODEL = "cmdim-birds"


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(0)
    for name in ("a.png", "another.png"):
        pixels = chance.integers(0, 256, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(name)
    return ["a.png", "another.png"]


def lines(found, names, wide):
    return [
        f"{name:{wide}}  " + "  ".join(f"{kind} {cosine:.2f}" for kind, cosine in row)
        for name, row in zip(names, found, strict=True)
    ]


def test_a_line_a_picture(pictures, capsys):
    assert main(["recognise", MODEL, *pictures]) == 0
    found = polymodal.load(MODEL).recognise(pictures, first=3)
    out, err = capsys.readouterr()
    assert out.splitlines() == lines(found, pictures, len("another.png"))
    assert "cosine of their prototype: no probability" in err


def test_only_what_may_be_is_named(pictures, capsys):
    model = polymodal.load(MODEL)
    assert len(model.unseen) == 15
    assert main(["recognise", MODEL, "a.png", "--unseen", "--first", "99"]) == 0
    found = model.recognise(["a.png"], among=model.unseen, first=99)
    assert sorted(name for name, _ in found[0]) == sorted(model.unseen)
    assert capsys.readouterr().out.splitlines() == lines(found, ["a.png"], len("a.png"))
    two = model.learned["names"][3:5]
    assert main(["recognise", MODEL, "a.png", "--among", *two]) == 0
    found = model.recognise(["a.png"], among=two)
    assert capsys.readouterr().out.splitlines() == lines(found, ["a.png"], len("a.png"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([MODEL], "Name at least one image, as in"),
        ([MODEL, "none.png"], "There is no image at none.png"),
        ([MODEL, "a.png", "--among", "dodo"], "Unknown class 'dodo'."),
        ([MODEL, "a.png", "--among", "dodo", "--unseen"], "--among and --unseen both choose"),
        ([MODEL, "a.png", "--first", "0"], "first must be 1 or more, not 0"),
        (
            ["SQUARES", "a.png"],
            "is a run of vse, which cannot recognise. Make one that can: `polymodal train fc --data "
            "birds,size=64 --run DIR`; or name a shipped model that does: cmdim-birds.",
        ),
    ],
)
def test_mistakes_are_one_plain_message(arguments, message, pictures, squares, capsys):
    if "SQUARES" in arguments:
        train_squares(squares, Path("vse"))
        capsys.readouterr()
        arguments = ["vse", *arguments[1:]]
    assert main(["recognise", *arguments]) == 1
    printed = capsys.readouterr()
    assert message in flat(printed.err)
    assert printed.out == ""


def test_a_model_that_had_images_of_all_classes_has_none_unseen(pictures, monkeypatch, capsys):
    from polymodal.runs import loading

    model = polymodal.load(MODEL)
    model.known.fill_(True)
    monkeypatch.setattr(loading, "load_for", lambda *asked: model)
    assert main(["recognise", MODEL, "a.png", "--unseen"]) == 1
    assert "had training images of all classes" in capsys.readouterr().err


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["recognise", "--help"])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    assert "usage: polymodal recognise [-h] [OPTIONS] RUN IMAGE [IMAGE ...]" in printed
    assert "polymodal recognise cmdim-birds bird.png --unseen" in printed
