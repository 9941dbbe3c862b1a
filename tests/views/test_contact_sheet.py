"""Contact sheets can be opened, and show boxes where they are known."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Stored
from polymodal.data.drawn import scenes as worlds
from polymodal.data.records import Caption, Dataset
from polymodal.views.contact_sheet import contact_sheet


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
