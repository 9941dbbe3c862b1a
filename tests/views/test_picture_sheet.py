"""Sheets of pictures: everything is there, where it belongs, and nothing is cut off."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image

from polymodal.views.lettering import FAINT, PAPER, font, wrap
from polymodal.views.picture_sheet import COLUMNS, GAP, MARGIN, TILE, Row, sheet

COLOURS = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200]], np.uint8)


def plain(count: int, size: int = 16) -> np.ndarray:
    """Pictures of one colour each."""
    return np.broadcast_to(COLOURS[np.arange(count) % 3, None, None], (count, size, size, 3)).copy()


def pixels(*rows: Row, foot: str = "") -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(sheet(rows, foot)))).astype(int)


def tops(found: np.ndarray, column: int) -> list[int]:
    """Where pictures begin in a column, by their middle."""
    middle = found[:, MARGIN + column * (TILE + GAP) + TILE // 2]
    coloured = (abs(middle[:, None] - COLOURS).max(-1) == 0).any(-1)
    return np.flatnonzero(coloured & ~np.roll(coloured, 1)).tolist()


def test_each_picture_is_at_its_place():
    found = pixels(Row(images=plain(3)))
    assert found.shape == (2 * MARGIN + TILE, 2 * MARGIN + 3 * TILE + 2 * GAP, 3)
    for place in range(3):
        left = MARGIN + place * (TILE + GAP)
        inside = found[MARGIN + 8 : MARGIN + TILE - 8, left : left + TILE]
        assert (inside == COLOURS[place]).all()
    paper = found.copy()
    for place in range(3):
        left = MARGIN + place * (TILE + GAP)
        paper[MARGIN : MARGIN + TILE, left : left + TILE] = PAPER
    assert (paper == PAPER).all()


def test_corners_are_round():
    found = pixels(Row(images=plain(3)))
    assert (found[MARGIN, MARGIN] == PAPER).all()
    assert (found[MARGIN, MARGIN + 8] == COLOURS[0]).all()


def test_many_pictures_go_on_in_the_next_line():
    found = pixels(Row(images=plain(COLUMNS + 1)))
    assert found.shape[1] == 2 * MARGIN + COLUMNS * (TILE + GAP) - GAP
    assert tops(found, 0) == [MARGIN, MARGIN + TILE + GAP]
    assert tops(found, 1) == [MARGIN]


def test_a_title_stands_above_its_row():
    found = pixels(Row(images=plain(4), title="one"), Row(images=plain(4), title="two"))
    first, second = tops(found, 0)
    for top in (MARGIN, first + TILE + MARGIN):
        below = first if top == MARGIN else second
        assert (found[top:below] != PAPER).any()
    assert (found[first + TILE : first + TILE + MARGIN] == PAPER).all()


def test_a_long_title_is_wrapped_and_not_cut():
    long = " ".join(["large"] * 40)
    short, tall = (pixels(Row(images=plain(1), title=title)) for title in ("large", long))
    assert short.shape[1] == tall.shape[1] == 2 * MARGIN + 3 * TILE + 2 * GAP
    assert tall.shape[0] > short.shape[0]
    assert (tall[:, -MARGIN:] == PAPER).all()


def test_captions_stand_beneath_their_pictures():
    found = pixels(Row(images=plain(9), captions=["", *["small cube"] * 8]))
    below = found[MARGIN + TILE : MARGIN + TILE + 24]
    assert (below[:, MARGIN : MARGIN + TILE] == PAPER).all()
    assert (below[:, MARGIN + TILE + GAP : MARGIN + 2 * TILE] != PAPER).any()
    second = tops(found, 0)[1]
    assert (found[second + TILE :, MARGIN : MARGIN + TILE] != PAPER).any()


def test_a_caption_a_picture():
    with pytest.raises(ValueError, match="zip"):
        sheet([Row(images=plain(2), captions=["one"])])


def test_the_foot_is_faint():
    found = pixels(Row(images=plain(3)), foot="by a model")
    foot = found[2 * MARGIN + TILE :]
    assert (foot == FAINT).all(-1).any()
    assert abs(foot - FAINT).max() <= max(abs(np.subtract(PAPER, FAINT)))


def test_lines_are_no_wider_than_asked():
    text = "large red metal cube left small blue rubber sphere"
    lines = wrap(text, 100, 13)
    assert " ".join(lines) == text
    assert all(font(13).getlength(line) <= 100 for line in lines)
    for line, following in itertools.pairwise(lines):
        assert font(13).getlength(f"{line} {following.split()[0]}") > 100
    assert wrap("mouth_slightly_open bald", 20, 13) == ["mouth_slightly_open", "bald"]
    assert wrap("", 100, 13) == []
