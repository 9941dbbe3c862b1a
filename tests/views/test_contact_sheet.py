"""Contact sheets can be opened, and show boxes where they are known."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Stored
from polymodal.data.drawn import scenes as worlds
from polymodal.data.records import Caption, Dataset, Phrase, Region
from polymodal.views.contact_sheet import contact_sheet
from polymodal.views.lettering import FAINT


def test_a_sheet_is_a_picture_with_boxes(tmp_path: Path) -> None:
    split = worlds.named("scenes", train=5, val=0, test=0, size=32).splits()["train"]
    for name, boxes in (("with", True), ("without", False)):
        contact_sheet(split, tmp_path / f"{name}.png", count=12, columns=3, boxes=boxes)
    with Image.open(tmp_path / "with.png") as marked, Image.open(tmp_path / "without.png") as bare:
        assert marked.format == "PNG" and marked.mode == "RGB"
        assert marked.width == bare.width == 2 * 36 + 3 * 336 + 2 * 28
        tile = (36, 36, 36 + 336, 36 + 336)
        with_boxes, without = np.asarray(marked.crop(tile)), np.asarray(bare.crop(tile))
        assert 0.001 < (with_boxes != without).any(-1).mean() < 0.2
        assert np.asarray(bare).std() > 10


def sheet_of(caption: Caption, path: Path) -> np.ndarray:
    """The sheet of one black picture in which three things are located."""
    boxes = ((10.0, 10.0, 100.0, 100.0), (120.0, 10.0, 200.0, 100.0), (10.0, 150.0, 300.0, 300.0))
    columns = {
        "image": Stored(np.zeros((1, 336, 336, 3), np.uint8)),
        "captions": Each.of([(caption,)]),
        "regions": Each.of([tuple(Region("thing", box) for box in boxes)]),
    }
    contact_sheet(Dataset(columns, ids=["0"]), path)
    with Image.open(path) as sheet:
        return np.asarray(sheet)[36:, 36:]


def test_phrases_have_the_colour_of_their_boxes(tmp_path: Path) -> None:
    phrases = (Phrase(0, 8, (0, 1)), Phrase(14, 19, (2,)), Phrase(24, 33, (0, 1, 2)))
    sheet = sheet_of(
        Caption("two dogs near a man and all of it", phrases=phrases), tmp_path / "a.png"
    )
    dogs, dog, man = sheet[8, 50], sheet[8, 150], sheet[148, 50]
    assert (dogs == dog).all() and (dogs != man).any()
    said = sheet[336 + 8 + 18 :]
    lines = [np.flatnonzero((said == line).all(-1).any(0)) for line in (dogs, man, FAINT)]
    assert [line.size > 20 for line in lines] == [True] * 3
    assert lines[0].min() == 0 and lines[0].max() < lines[1].min()
    assert lines[1].max() < lines[2].min()


def test_what_no_phrase_names_is_coloured_by_its_label(tmp_path: Path) -> None:
    sheet = sheet_of(Caption("of no thing", phrases=(Phrase(3, 11, ()),)), tmp_path / "b.png")
    assert (sheet[8, 50] == sheet[148, 50]).all()
    assert not (sheet[336 + 8 + 18 :] == sheet[8, 50]).all(-1).any()


def plain() -> Dataset:
    """One picture of which nothing is known but a caption, and not square."""
    columns = {
        "image": Stored(np.full((1, 20, 40, 3), 200, np.uint8)),
        "captions": Each.of([(Caption("a rather long sentence " * 9),)]),
    }
    return Dataset(columns, ids=["plain-0"])


def test_a_sheet_needs_no_truth(tmp_path: Path) -> None:
    contact_sheet(plain(), tmp_path / "plain.png")
    with Image.open(tmp_path / "plain.png") as sheet:
        assert sheet.width == 2 * 36 + 336


def test_a_sheet_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolymodalError, match="at least one image"):
        contact_sheet(plain(), tmp_path / "none.png", count=0)
