"""What is drawn lies where it was asked for, and nothing else is touched."""

import matplotlib
import numpy as np
import pytest
from PIL import Image

from polymodal.studies.figures.pixel_sheet import ACCENT, INK, SECOND, WIDTH, Sheet, Word


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def pixels(sheet: Sheet, folder) -> np.ndarray:
    sheet.save(folder / "sheet.png")
    with Image.open(folder / "sheet.png") as image:
        return np.asarray(image.convert("RGB"))


def has(part: np.ndarray, colour: str) -> bool:
    return bool((part == rgb(colour)).all(-1).any())


def test_a_picture_lies_at_its_pixels(tmp_path):
    sheet = Sheet(120)
    sheet.picture(np.full((8, 8, 3), (200, 10, 30), np.uint8), 100, 50, 40)
    found = pixels(sheet, tmp_path)
    assert found.shape == (120, WIDTH, 3)
    assert (found[51:89, 101:139] == (200, 10, 30)).all()
    outside = np.ones(found.shape[:2], bool)
    outside[49:91, 99:141] = False
    assert (found[outside] == 255).all()


def test_a_histogram_is_as_high_as_its_probabilities(tmp_path):
    sheet = Sheet(200)
    sheet.histogram(np.array([0.5, 0.25, 0.25, 0.0]), 1, 100, 50, 400, 100)
    found = pixels(sheet, tmp_path)
    for place, colour, high in ((0, ACCENT, 50), (1, INK, 25), (2, ACCENT, 25)):
        column = found[:, 150 + 100 * place]
        rows = np.flatnonzero((column == rgb(colour)).all(-1))
        assert abs(150 - rows[0] - high) <= 1
    assert (found[:148, 450] == 255).all()


def test_marked_words_alone_are_orange(tmp_path):
    sheet = Sheet(100)
    sheet.spell([[Word("red"), Word("cube")]], 10, 10)
    assert not has(pixels(sheet, tmp_path), SECOND)
    sheet.spell([[Word("red"), Word("cube", marked=True)]], 400, 10)
    found = pixels(sheet, tmp_path)
    assert has(found[:, 400:], SECOND) and has(found[:, 400:], INK)
    assert not has(found[:, :400], SECOND)
    assert (found[:9] == 255).all()  # words hang from where they are put


def test_the_same_sheet_gives_the_same_bytes_and_leaves_matplotlib_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    for name in ("a.png", "b.png"):
        sheet = Sheet(100)
        sheet.head(r"$q_{Agg}(z\,|\,y)$", 10, "a note")
        sheet.save(tmp_path / "new" / name)
    assert (tmp_path / "new/a.png").read_bytes() == (tmp_path / "new/b.png").read_bytes()
    assert dict(matplotlib.rcParams) == before


def test_a_sheet_that_cannot_be_drawn_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "sheet.png"
    path.write_bytes(b"old")
    sheet = Sheet(100)

    def fail(*_, **__):
        raise RuntimeError("half way")

    monkeypatch.setattr(sheet.figure, "savefig", fail)
    with pytest.raises(RuntimeError, match="half way"):
        sheet.save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
