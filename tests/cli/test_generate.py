"""`polymodal generate` and `polymodal caption` as people give them."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import polymodal
from polymodal.cli import generate, main
from polymodal.data.drawn.scenes.scene_captions import WORDS
from polymodal.data.folder import open_folder
from polymodal.runs import shipped as models
from polymodal.runs.shipping import ship
from polymodal.views.picture_sheet import Row, sheet
from toys import flat, train_squares
from vlvaes import train_vlvae

RED, BLUE = "something red", "a blue square at the top"


@pytest.fixture(scope="module")
def places(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    train_vlvae(squares, folder / "run")
    train_vlvae(squares, folder / "both", model={"infer_from": "both"})
    train_vlvae(squares, folder / "bare", model={"densities": (), "flow_share": 0.0})
    train_squares(squares, folder / "vse")
    return folder


@pytest.fixture
def run(places, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return places / "run"


def test_a_sheet_has_a_row_a_text(run, capsys):
    told = ["--text", RED, "--text", BLUE, "--count", "3", "--seed", "5"]
    assert main(["generate", str(run), *told, "--out", "new/a.png"]) == 0
    said = flat(capsys.readouterr().err)
    assert said.startswith("Wrote new/a.png: z from q_agg(z|y), seed 5. Next: --seed 6 for others")
    model = polymodal.load(run)
    rows = [Row(title=text, images=model.generate(text, 3, seed=5)) for text in (RED, BLUE)]
    expected = sheet(rows, "run · z from q_agg(z|y) · seed 5")
    assert Path("new/a.png").read_bytes() == expected


def test_a_sheet_by_the_true_posterior(run, capsys):
    assert main(["generate", str(run), "--text", RED, "--by", "true"]) == 0
    assert "Wrote sheet.png: z from q_true(z|y)" in flat(capsys.readouterr().err)
    rows = [Row(title=RED, images=polymodal.load(run).generate(RED, 8, by="true"))]
    assert Path("sheet.png").read_bytes() == sheet(rows, "run · z from q_true(z|y) · seed 0")


@pytest.mark.parametrize(
    ("flags", "prior", "how"),
    [
        ([], "aggregate", "z from the aggregate prior q(z)"),
        (["--prior", "normal"], "normal", "z from N(0, I)"),
    ],
)
def test_pairs_from_nothing(run, capsys, flags, prior, how):
    assert main(["generate", str(run), *flags]) == 0
    assert f"Wrote sheet.png: {how}, seed 0." in flat(capsys.readouterr().err)
    found = polymodal.load(run).sample(8, prior=prior)
    rows = [Row(images=found.images, captions=found.texts)]
    assert Path("sheet.png").read_bytes() == sheet(rows, f"run · {how} · seed 0")


def test_single_pictures_are_data_again(run, capsys):
    told = ["--text", RED, "--text", BLUE, "--count", "2", "--out", "pictures/"]
    assert main(["generate", str(run), *told]) == 0
    said = flat(capsys.readouterr().err)
    assert f"Next: polymodal caption {run} pictures/0001.png" in said
    with Path("pictures/captions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["caption"] for row in rows] == [RED, RED, BLUE, BLUE]
    expected = polymodal.load(run).generate(BLUE, 2)
    with Image.open(Path("pictures", rows[3]["image"])) as image:
        assert np.array_equal(np.asarray(image), expected[1])
    assert sum(map(len, open_folder("pictures", size=16, progress=False).values())) == 4


def test_single_pairs_keep_their_texts(run):
    assert main(["generate", str(run), "--count", "3", "--out", "pairs"]) == 0
    with Path("pairs/captions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["caption"] for row in rows] == polymodal.load(run).sample(3).texts


def test_a_shipped_model_draws_by_its_name(run, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "SHIPPED", tmp_path / "package")
    ship(run, "squares", limits="It knows squares alone.")
    assert main(["generate", "squares", "--text", RED]) == 0
    rows = [Row(title=RED, images=polymodal.load("squares").generate(RED, 8))]
    assert Path("sheet.png").read_bytes() == sheet(rows, "squares · z from q_agg(z|y) · seed 0")


def test_a_line_a_picture(run, squares, capsys):
    images = [str(squares / name) for name in ("val-000.png", "val-001.png")]
    assert main(["caption", str(run), *images]) == 0
    words = polymodal.load(run).caption(images)
    expected = [f"{image}  {text}" for image, text in zip(images, words, strict=True)]
    assert capsys.readouterr().out.splitlines() == [line.rstrip() for line in expected]


def test_the_name_of_a_picture_does_nothing_to_a_terminal(run, squares, capsys):
    shutil.copy(squares / "val-000.png", "a\x1b[31m[b]\r.png")
    assert main(["caption", str(run), "a\x1b[31m[b]\r.png"]) == 0
    assert capsys.readouterr().out.startswith(r"a\x1b[31m[b]\r.png  ")


def test_probabilities_are_those_of_the_words_said(run, squares, capsys):
    import torch

    path = squares / "val-002.png"
    assert main(["caption", str(run), str(path), "--probabilities"]) == 0
    _, *told = re.split(r"  ", capsys.readouterr().out.strip())
    model = polymodal.load(run)
    picture = np.asarray(Image.open(path).resize((16, 16), Image.Resampling.BICUBIC))
    seen = torch.from_numpy(picture.copy()).permute(2, 0, 1)[None]
    code = model.model.code(model.model.posterior(seen, None).mean)
    said, _ = model.said(model.model.posterior(seen, None).mean)
    chances = model.model.text_decoder(code, said).softmax(-1)[0]  # by teacher forcing
    expected = [
        f"{model.words.words[word]} {chances[place, word]:.2f}"
        for place, word in enumerate(said[0].tolist())
        if word
    ]
    assert told == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "RUN", "--text", "a red glorp"], "Unknown word 'glorp'. Known: "),
        (["generate", "RUN", "--text", "red " * 9], "has 9 words, but there is room for 6"),
        (["generate", "RUN", "--text", ""], "is empty. Say a word at least. The words are: "),
        (["generate", "RUN", "--text", "a red square", "--text", " - "], "' - ' is empty"),
        (["generate", "RUN", "--text", "red"], "'red' has 1 words, but the shortest that was"),
        (["generate", "RUN", "--count", "0"], "count must be 1 or more, not 0"),
        (["generate", "RUN", "--seed", "-1"], "--seed must be 0 or more and below 2^63, not -1"),
        (["generate", "RUN", "--by", "true"], "--by says how a text is drawn: give a --text"),
        (["generate", "RUN", "--text", "red", "--prior", "normal"], "--prior is for pictures from"),
        (
            ["generate", "RUN", "--out", "a.jpg"],
            "written as .png, but --out is a.jpg. A folder ends",
        ),
        (
            ["generate", "RUN", "--out", "FULL/file"],
            "FULL/file cannot be written: FULL/file is a file",
        ),
        (["generate", "RUN", "--out", "FULL/file/a.png"], "FULL/file is a file. Name another"),
        (
            ["generate", "RUN", "--out", "FULL"],
            "FULL is there already, and not empty. Name another folder",
        ),
        (["generate", "RUN", "--count", "1001"], "A sheet has room for 1000 pictures, but 1001"),
        (["generate", "RUN", "--device", "cdua"], "The device 'cdua' cannot be used here"),
        (["generate", "VSE", "--text", "red"], "is a run of vse, which cannot generate. Make one"),
        (
            ["generate", "vlvae-two-objcts", "--text", "red"],
            "vlvae-two-objcts is no run: there is no such directory. Unknown shipped model "
            "'vlvae-two-objcts'. Did you mean 'vlvae-two-objects'?",
        ),
        (["generate", "BARE", "--text", "a red square"], "This model has no q_agg(z|y)"),
        (
            ["generate", "BARE"],
            "did not learn the aggregate prior. Ask for the prior 'normal' (--prior normal)",
        ),
        (["caption", "RUN"], "Name at least one image, as in"),
        (["caption", "RUN", "none.png"], "There is no image at none.png"),
        (["caption", "RUN", "FULL/file"], "this is no image, or one of another format"),
        (["caption", "VSE", "IMAGE"], "is a run of vse, which cannot caption. Make one that can"),
        (["caption", "BOTH", "IMAGE"], "infers from both, so it cannot caption an image alone"),
    ],
)
def test_mistakes_are_one_plain_message(arguments, message, run, places, squares, capsys):
    Path("full").mkdir()
    Path("full/file").write_text("something")
    there = {"RUN": run, "VSE": places / "vse", "BOTH": places / "both", "BARE": places / "bare",
             "FULL": "full", "IMAGE": squares / "val-000.png"}  # fmt: skip
    for name, place in there.items():
        arguments = [argument.replace(name, str(place)) for argument in arguments]
    before = sorted(Path().rglob("*"))
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert message.replace("FULL", "full") in flat(printed.err)
    assert printed.out == ""
    assert sorted(Path().rglob("*")) == before


def test_help_teaches(capsys):
    for verb, usage in (("generate", "[OPTIONS] RUN"), ("caption", "RUN IMAGE [IMAGE ...]")):
        with pytest.raises(SystemExit) as stopped:
            main([verb, "--help"])
        assert stopped.value.code == 0
        printed = capsys.readouterr().out
        assert f"usage: polymodal {verb} [-h] {usage}" in printed
        assert f"polymodal {verb} vlvae-two-objects" in printed
        assert "Run directory, or name of a shipped model." in flat(printed)


def test_help_lists_the_words_of_two_objects():
    listed = [line.split() for line in generate.HELP.splitlines() if line.startswith("  ")][2:]
    assert [word for line in listed for word in line] == list(WORDS["two-objects"])
