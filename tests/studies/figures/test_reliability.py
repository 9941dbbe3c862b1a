"""Reliability diagrams: bins with enough queries are drawn, and those off the band are counted."""

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.studies.figures.reliability import reliability_diagrams
from polymodal.studies.result_files import Row
from polymodal.systems.retrieval.sureness_probe import NAMES, gaps


def row(data, seed, **observed):
    """A row whose claims of 55 % and 75 % come true so often."""
    found = {}
    for index in NAMES:
        share = observed.get(index, 0.55)
        claimed = torch.tensor([0.55] * 200 + [0.75] * 100 + [0.15] * 50)
        right = torch.arange(350) < 200 * share
        right[200:300] = torch.arange(100) < 75
        found |= gaps(index, 500, [(claimed, right)])
    return Row(name="GCIE", data=data, seed=seed, metrics=found)


def test_findings_count_the_bins_off_the_band(tmp_path):
    rows = [row("folder:a", 0, large=0.65), row("folder:a", 1, small=0.52, large=0.56)]
    found = reliability_diagrams(rows, tmp_path / "a.json")
    assert found["folder:a, small"] == pytest.approx({"largest_gap": 3, "bins": 4, "bins_off": 0})
    assert found["folder:a, large"] == pytest.approx({"largest_gap": 10, "bins": 4, "bins_off": 1})


def test_each_dataset_has_a_row_of_panels_and_each_seed_a_colour(tmp_path):
    one, two = (row(data, 0) for data in ("folder:a", "scenes,size=64"))
    reliability_diagrams([one], tmp_path / "one.json")
    reliability_diagrams([one, two], tmp_path / "two.json")
    reliability_diagrams([one, row("folder:a", 1, small=0.4, middle=0.7)], tmp_path / "seeds.json")
    one, two, seeds = (
        np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB"))
        for name in ("one", "two", "seeds")
    )
    assert len(two) > 1.8 * len(one)
    orange = (0xB4, 0x54, 0x1A)
    assert (seeds == orange).all(-1).sum() > 50
    assert not (one == orange).all(-1).any()
