"""How much a split says, counted by hand on a small one."""

from pathlib import Path

import numpy as np

from entities import write_entities
from polymodal.data.columns import Each, Stored, Targets
from polymodal.data.drawn import scenes as worlds
from polymodal.data.phrase_counts import counts
from polymodal.data.records import Dataset
from polymodal.data.region_folder import open_entities


def test_phrases_with_boxes_are_counted_by_type(tmp_path: Path) -> None:
    notes, photos = write_entities(tmp_path)
    splits = open_entities(notes, images=str(photos), size=16, progress=False)
    assert counts(splits["train"]) == {
        "images": 1,
        "regions": 4,
        "captions": 2,
        "phrases": 7,
        "with a box": 5,
        "with several": 2,
        "with a box: people": 3,  # a man, he, his friends
        "with a box: animals": 2,
        "with a box: clothing": 1,
    }


def test_phrases_without_types_have_those_of_their_regions() -> None:
    split = worlds.named("scenes", train=9, val=0, test=0, size=16).splits()["train"]
    found = counts(split)
    named = [
        {record.regions[k].label for k in phrase.regions}
        for record in split
        for caption in record.captions
        for phrase in caption.phrases
    ]
    assert found["phrases"] == found["with a box"] == len(named)
    assert found["with a box: cube"] == sum("cube" in labels for labels in named) > 0


def test_what_is_not_known_is_not_counted() -> None:
    assert counts(Dataset({"image": Stored(np.zeros((3, 4, 4, 3), np.uint8))})) == {"images": 3}


def test_patients_modalities_and_findings_are_counted() -> None:
    targets = np.array([[1, 0], [1, 1], [0, 0]], np.float32)
    columns = {
        "t1": Stored(np.zeros((3, 1, 2, 2), np.float32)),
        "flair": Stored(np.zeros((3, 1, 2, 2), np.float32), present=np.array([True, False, False])),
        "targets": Targets(targets, classes=("Mass", "Edema")),
        "group": Each.of(["a", "a", "b"]),
    }
    assert counts(Dataset(columns)) == {
        "images": 3,
        "patients": 2,
        "with flair": 1,
        "with Mass": 2,
        "with Edema": 1,
    }
