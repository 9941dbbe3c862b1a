"""Pictures taken out of a dataset."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from entities import write_entities
from polymodal.cli import main
from polymodal.data.drawn import birds
from polymodal.data.folder import open_folder
from polymodal.data.sources import open_splits
from toys import flat

DRAWN = "birds,size=32,train=70,val=20,test=60,test_seen=45"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def exported(*options):
    return main(["data", "export", DRAWN, "--out", "pictures", *options])


def test_pictures_of_classes_lie_in_folders_of_their_names(capsys):
    assert exported("--count", "7") == 0
    assert "7 of 60 pictures of test are in pictures." in flat(capsys.readouterr().err)
    test = birds.named(size=32, train=70, val=20, test=60, test_seen=45).splits()["test"]
    known = {test.images([k]).tobytes(): test.classes[test.labels[k]] for k in range(60)}
    found = sorted(Path("pictures").rglob("*.png"), key=lambda path: path.name)
    assert [path.name for path in found] == [f"000{n}.png" for n in range(1, 8)]
    assert len({path.parent.name for path in found}) > 3
    for path in found:
        assert known[np.asarray(Image.open(path)).tobytes()] == path.parent.name


def test_they_can_be_read_as_data():
    all_of_val = ["--split", "val", "--count", "99", "--out", "pictures"]
    assert main(["data", "export", "scenes,size=16,count=20", *all_of_val]) == 0
    assert sorted(path.name for path in Path("pictures").iterdir()) == [
        "0001.png", "0002.png", "captions.csv",
    ]  # fmt: skip
    val = open_splits("scenes,size=16,count=20")["val"]
    read = [record for split in open_folder(Path("pictures"), size=16).values() for record in split]
    expected = {val[k].image.tobytes(): {c.text for c in val.captions(k)} for k in range(2)}
    assert {r.image.tobytes(): {c.text for c in r.captions} for r in read} == expected


def test_splits_are_counted_side_by_side(capsys):
    assert main(["data", "count", DRAWN]) == 0
    lines = [re.findall(r"[\w,]+", line) for line in capsys.readouterr().out.splitlines()]
    assert ["count", "train", "val", "trainval", "test_seen", "test"] in lines
    assert ["images", "70", "20", "90", "45", "60"] in lines


def test_what_is_left_out_is_counted_and_listed(tmp_path, capsys):
    notes, photos = write_entities(tmp_path)
    (photos / "10.png").unlink()
    data = f"flickr30k:{notes},images={photos},size=16"
    for options in (["count", data], ["show", data, "--split", "test", "--out", "sheet.png"]):
        assert main(["data", *options]) == 1
        assert "Sentences/10.txt: there is no picture 10.jpg" in flat(capsys.readouterr().err)
        assert main(["data", *options, "--skip-bad"]) == 0
        told = flat(capsys.readouterr().err)
        assert "1 bad records were left out: " in told
        assert "Sentences/10.txt: there is no picture 10.jpg" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", "0"], "--count must be 1 or more, not 0."),
        (["--split", "tset"], "Unknown split of birds"),
    ],
)
def test_mistakes_write_nothing(options, message, capsys):
    assert exported(*options) == 1
    assert message in flat(capsys.readouterr().err)
    assert not Path("pictures").exists()


def test_nothing_is_written_among_other_files(capsys):
    Path("pictures").mkdir()
    Path("pictures/mine.txt").write_text("mine")
    assert exported() == 1
    assert "pictures is there already, and not empty" in flat(capsys.readouterr().err)
    assert [path.name for path in Path("pictures").iterdir()] == ["mine.txt"]
    assert main(["data", "draw", "birds", "--out", "drawn"]) == 1
    assert "`polymodal data export birds --split test" in flat(capsys.readouterr().err)
