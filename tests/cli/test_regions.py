"""`polymodal regions`: a folder of regions, and how much of the truth they hold."""

import pytest

from polymodal.cli import main
from polymodal.data.region_files import open_regions
from polymodal.data.sources import open_splits
from polymodal.nn import regions

WORLD = "scenes,size=24,train=6,val=2,test=2"


def test_regions_of_scenes(tmp_path, capsys):
    command = ["regions", WORLD, "--out", str(tmp_path), "--count", "9", "--geometry"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "Regions of 10 images are in" in said
    assert "\ntrain: 100.0 % of " in said
    assert said.count(" true boxes have a region with intersection over union of at least") == 3
    splits = open_splits(WORLD)
    opened = open_regions(tmp_path, splits)
    plan = regions.describe(count=9, geometry=True)
    for name, split in splits.items():
        same = regions.with_proposals(split, plan).columns
        columns = opened[name].columns
        assert (columns["proposals"].values == same["proposals"].values).all()
        assert (columns["proposal_features"].values == same["proposal_features"].values).all()
        assert columns["proposal_features"].encoder == plan
    boxes, features = regions.propose(
        splits["test"].images([0]),
        {**plan, "finders": regions.describe(finder="windows")["finders"]},
    )
    assert (boxes.shape, features.shape) == ((1, 30, 4), (1, 30, 773))


def test_windows_hold_part_of_the_truth(tmp_path, capsys):
    assert (
        main(["regions", WORLD, "--out", str(tmp_path), "--finder", "windows", "--count", "1"]) == 0
    )
    told = [line.split() for line in capsys.readouterr().err.splitlines() if "true boxes" in line]
    assert len(told) == 3
    assert max(float(words[1]) for words in told) < 50


def test_without_truth_nothing_is_printed(tmp_path, squares, capsys):
    data = f"folder:{squares},size=32"
    assert (
        main(["regions", data, "--out", str(tmp_path), "--finder", "windows", "--count", "2"]) == 0
    )
    assert "true boxes" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--finder", "windwos"], "Unknown finder of regions 'windwos'. Did you mean 'windows'?"),
        (["--batch-size", "0"], "batch_size must be at least 1, not 0"),
        (["--out", f"{__file__}/in"], "cannot be written"),
        (["--device", "nowhere"], "The device 'nowhere' cannot be used here"),
    ],
)
def test_what_cannot_be(tmp_path, capsys, flags, message):
    assert main(["regions", WORLD, "--out", str(tmp_path), *flags]) == 1
    assert message in capsys.readouterr().err
