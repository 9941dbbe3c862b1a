"""Columns and the tables that they make: what is there, what is missing, what is absent."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import examples_of
from polymodal.data.columns import Column, Each, Labels, Read, Stored
from polymodal.data.drawn import birds
from polymodal.data.drawn.scenes import named
from polymodal.data.folder import open_folder
from polymodal.data.records import Caption, Dataset, Phrase, Region

N = 6
FLAIR = [np.full((2, 3, 3, 3), i, np.float32) if i % 3 else None for i in range(N)]


def table(**changes) -> Dataset:
    """Two modalities, one of them missing for every third item; several targets; patients."""
    columns: dict[str, Column] = {
        "t1": Stored(np.arange(N * 16, dtype=np.float32).reshape(N, 1, 4, 4)),
        "flair": Stored.of(FLAIR),
        "targets": Stored(np.eye(N, 2, dtype=np.float32)),
        "group": Each.of([f"patient {i // 2}" for i in range(N)]),
        "text": Each.of(["a report", *[None] * (N - 1)]),
    }
    return Dataset(columns | changes)


def test_a_table_has_what_it_was_given_and_lacks_the_rest():
    data = table()
    assert len(data) == N
    assert list(data.ids) == ["0", "1", "2", "3", "4", "5"]
    assert repr(data) == "Dataset of 6: t1, flair, targets, group, text"
    first, second = data[0], data[1]
    assert "flair" not in first and "flair" in second
    assert first["text"] == "a report" and "text" not in second
    assert second["flair"].shape == (2, 3, 3, 3)
    assert second.captions == () and second.regions is None and second.relations == {}
    assert [record.id for record in data] == list(data.ids)
    assert data[-1].id == "5"
    with pytest.raises(IndexError, match="There are 6 records, so there is no index 6"):
        data[6]


def test_what_is_absent_is_named_with_what_there_is_and_what_has_it():
    data = table()
    with pytest.raises(
        PolymodalError,
        match=r"Retrieval needs the column 'captions' \(sentences about the image, .*\), but these data "
        r"have only: t1, flair, targets, group, text\. Give a world such as scenes, folder:PATH",
    ):
        data.column("captions", "Retrieval")
    with pytest.raises(PolymodalError, match=r"'swi', but .*Give data that have it\."):
        data.column("swi", "Segmentation")
    with pytest.raises(PolymodalError, match="Looking at pictures needs the column 'image'"):
        data.images([0])
    with pytest.raises(PolymodalError, match="Reading needs the column 'captions'"):
        data.captions(0)
    with pytest.raises(PolymodalError, match="Recognition needs the column 'label'"):
        _ = data.labels
    with pytest.raises(PolymodalError, match="Of '0' no flair is known, only t1, targets, group"):
        data[0]["flair"]


@pytest.mark.parametrize("reading", [False, True])
def test_what_is_missing_is_zero_in_a_batch_and_never_read(reading):
    column = Stored.of(FLAIR)
    if reading:

        def some(rows):
            assert not any(row % 3 == 0 for row in rows)
            return np.stack([FLAIR[row] for row in rows])

        column = Read(N, some, present=column.present)
    assert column.present.tolist() == [False, True, True] * 2
    found = column.batch([3, 4, 4, 0])
    assert found[:, 0, 0, 0, 0].tolist() == [0, 4, 4, 0]
    assert column.batch([0, 3]).shape == (2, 2, 3, 3, 3)
    assert column[0] is None and column[5].mean() == 5
    some_rows = column.take(np.array([5, 0, 4]))
    assert some_rows.batch([0, 1, 2])[:, 0, 0, 0, 0].tolist() == [5, 0, 4]
    assert isinstance(column, Column)


def test_stored_rows_hold_whatever_they_like_where_they_are_missing():
    values = np.full((2, 3), np.nan)
    column = Stored(values, present=np.array([False, False]))
    assert (column.batch([0, 1]) == 0).all()
    assert np.isnan(values).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Stored.of([np.zeros(2), np.zeros(3)]),
            r"Row 1 of a column is float64 of shape \[3\]",
        ),
        (lambda: Stored.of([None, None]), "no row that is there"),
        (lambda: Stored(np.zeros(3), present=np.ones(2, bool)), "present says of each of 3 rows"),
        (lambda: Each(3, str, present=np.ones(3)), "true or false, but is float64"),
        (lambda: table(t2=Stored(np.zeros(7))), "theirs number t1 6, flair 6, .*, t2 7"),
        (lambda: Dataset({"t1": Stored(np.zeros(7))}, ids=["a"]), "theirs number ids 1, t1 7"),
        (lambda: Dataset({}), "theirs number none"),
    ],
)
def test_tables_that_cannot_be(make, message):
    with pytest.raises(PolymodalError, match=message):
        make()


def test_the_fingerprint_is_of_all_that_is_there():
    told = table().fingerprint
    assert told == table().fingerprint
    other = Stored.of([None if row is None else row + (i == 5) for i, row in enumerate(FLAIR)])
    unseen = Stored(np.full((N, 2, 3, 3, 3), np.nan, np.float32), present=np.zeros(N, bool))
    labels = [Labels(np.zeros(N, np.int64), classes=(name,)) for name in "ab"]
    regions = [Each.of([(Region("a", mask=np.eye(3) > k),)] * N) for k in (0, 1)]
    tables = [
        table(),
        table(flair=other),
        table(flair=unseen),
        *(table(label=label) for label in labels),
        *(table(regions=region) for region in regions),
        table().take([0, 1]),
        table().take([1, 0]),
    ]
    assert len({one.fingerprint for one in tables}) == len(tables)
    assert Dataset({"t1": Stored(np.zeros(2))}, fingerprint="mine").fingerprint == "mine"
    with pytest.raises(PolymodalError, match="A column holds set, of which no hash can be taken"):
        _ = table(odd=Each.of([{1}] * N)).fingerprint


def test_examples_come_with_what_is_present_and_reside_anywhere():
    examples = examples_of(table(), "t1", "flair", "targets")
    rows = np.array([4, 3])
    batch = examples.batch(rows)
    assert len(batch) == 2 and len(examples) == N
    assert batch.t1.shape == (2, 1, 4, 4) and batch.flair.shape == (2, 2, 3, 3, 3)
    assert batch.flair_present.tolist() == [True, False]
    assert batch.flair[1].abs().max() == 0
    assert set(vars(batch)) == {"t1", "flair", "flair_present", "targets"}
    kept = examples.resident(torch.device("cpu"))
    assert type(kept) is type(examples)
    for name, value in vars(batch).items():
        assert torch.equal(vars(kept.batch(rows))[name], value)
    assert {v.device.type for v in vars(batch.to("meta")).values()} == {"meta"}
    assert [len(block) for block in examples.blocks(5, 2)] == [2, 2, 1]
    with pytest.raises(PolymodalError, match="Segmentation needs the column 'mask'"):
        examples_of(table(), "mask", whom="Segmentation")


def test_drawn_scenes_and_birds_and_folders_give_the_same_columns(squares):
    scene = named("scenes", size=32, train=2, val=0, test=0).splits()["train"]
    record = scene[1]
    assert {"image", "captions", "regions", "layout", "relations", "mask"} == set(record.values)
    region = record.regions[0]
    shape = region.attributes["shape"]
    assert region.label == shape and region.name.endswith(shape) and len(region.name.split()) == 4
    assert np.array_equal(region.mask, record.mask == 1)
    ys, xs = np.nonzero(region.mask)
    assert region.box == (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    for shown, known in zip(record["layout"], record.regions, strict=True):
        words = (known.attributes[name] for name in ("colour", "material", "shape"))
        assert shown == Region(" ".join(words), known.box)
    phrase = record.captions[0].phrases[0]
    assert isinstance(phrase, Phrase) and set(phrase.regions) <= set(range(len(record.regions)))

    bird = birds.named(size=32, train=70, val=20, test_seen=45, test=15).splits()["test"][3]
    assert {"image", "captions", "label", "parts", "mask"} == set(bird.values)
    assert bird["parts"].shape == (15, 3) and bird.mask.shape == (32, 32)

    split = open_folder(squares, size=32, progress=False)["val"]
    assert {"image", "captions", "file"} == set(split.columns)
    assert split[2]["file"] == str(squares / "val-002.png")
    assert split.captions(2)[0] == Caption("a blue square at the left")


@pytest.mark.parametrize(
    "code",
    [
        "from polymodal.data import open_splits; data = open_splits({0!r})",
        "from polymodal.data.sources import look_at; data = look_at({0!r})",
        "from polymodal.runs.jobs import open_data\n"
        "from polymodal.systems.retrieval.retrieval_scores import true_pairs\n"
        "from polymodal.data.image_texts import texts_of, words_of\n"
        "data = open_data({0!r}); assert true_pairs(data['val'], 'cpu') is None\n"
        "words_of(data['val']), texts_of(data['val'])",
    ],
)
def test_a_folder_of_pictures_needs_no_compiler(squares: Path, code: str) -> None:
    told = code.format(f"folder:{squares},size=8")
    told += "\ndata['val'].images([0]); data['val'][0]\n"
    told += "import sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told]).returncode == 0
