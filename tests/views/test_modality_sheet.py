"""Sheets of modalities: side by side, outlines of the mask, what is missing said so."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.data.columns import Each, Masks, Stored
from polymodal.data.records import Dataset
from polymodal.views.modality_sheet import MARGIN, PALETTE, TILE, modality_sheet, outline


def scans(volume: bool = False) -> Dataset:
    mask = np.zeros((2, 8, 8), np.uint8)
    mask[:, 2:5, 2:6] = 1
    t1 = np.linspace(0, 1, 128, dtype=np.float32).reshape(2, 1, 8, 8)
    if volume:
        mask = np.stack([0 * mask, mask, 0 * mask], 1)
        t1 = np.stack([0 * t1, t1, 0 * t1], 2)
    columns = {
        "t1": Stored(t1),
        "flair": Stored(t1, present=np.array([True, False])),
        "mask": Masks(2, Stored(mask).batch, classes=("background", "tumour")),
        "group": Each.of(["a", "b"]),
    }
    return Dataset(columns)


@pytest.mark.parametrize("volume", [False, True])
def test_modalities_stand_side_by_side_with_outlines(tmp_path: Path, volume: bool) -> None:
    modality_sheet(scans(volume), tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width == 2 * MARGIN + 2 * TILE + 8
        found = np.asarray(sheet)
    lined = (found == PALETTE[0]).all(-1)
    rows, columns = np.nonzero(lined[100:])  # below the key
    assert len(rows) > 500
    left = columns < MARGIN + TILE
    assert left.sum() == 2 * (~left).sum()  # of flair, one is missing
    box = columns[left].min() - MARGIN, columns[left].max() - MARGIN
    assert box == pytest.approx((TILE * 2 / 8, TILE * 6 / 8 - 1), abs=1)


def test_an_outline_is_a_line_within() -> None:
    inside = np.zeros((6, 6), bool)
    inside[1:5, 1:5] = True
    assert outline(inside).sum() == 12 and not outline(inside)[2:4, 2:4].any()


def test_what_cannot_be_shown_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolymodalError, match="no modalities to show, but only: group"):
        modality_sheet(Dataset({"group": Each.of(["a"])}), tmp_path / "a.png")
    with pytest.raises(PolymodalError, match="one item at least, but was asked for 0 of 2"):
        modality_sheet(scans(), tmp_path / "a.png", count=0)


def test_phantoms_are_shown_by_their_name(tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    data = "phantoms,size=16,train=4,val=0,test=0"
    assert main(["data", "show", data, "--out", str(out), "--count", "2"]) == 0
    with Image.open(out) as sheet:
        assert sheet.width == 2 * MARGIN + 4 * TILE + 3 * 8
    assert main(["data", "draw", "phantoms", "--out", str(tmp_path / "d")]) == 1
