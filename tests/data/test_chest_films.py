"""Open-I in its two layouts, the table of open-i-224.zip and XML with PNG, and what is wrong in them."""

import csv
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.chest_films import Films, open_films
from polymodal.data.formats.open_i import STEMS, labels_of
from polymodal.data.sources import open_splits

OPEN_I = Path(__file__).parents[3] / "shared" / "data" / "open-i-224.zip"

COLUMNS = ["id", "split", "findings", "impression", "lab_Cardiomegaly", "lab_Pleural_Thickening"]
SPLITS = ["train"] * 6 + ["val"] * 2 + ["test"] * 2


def rows() -> list[list[str]]:
    return [
        [f"CXR{k}_IM-{k:04d}", split, f"The heart, film {k}.\nClear lungs." * (k != 3),
         f'1. "Normal, {k}".', str(k % 2), str(int(k == 4))]
        for k, split in enumerate(SPLITS)
    ]  # fmt: skip


def write_table(folder: Path, table: list[list[str]] | None = None) -> Path:
    """Ten films with two labels, one report without findings."""
    folder.mkdir(exist_ok=True)
    for k in range(len(SPLITS)):
        pixels = np.full((20, 24), 10 * k, np.uint8)
        Image.fromarray(pixels).save(folder / f"CXR{k}_IM-{k:04d}.jpg")
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *(rows() if table is None else table)])
    return folder


REPORT = """<?xml version="1.0" encoding="utf-8"?>
<eCitation>
  <meta type="rr"/>
  <uId id="CXR{k}"/>
  <MedlineCitation Owner="Indiana University"><Article><Abstract>
    <AbstractText Label="COMPARISON">None.</AbstractText>
    <AbstractText Label="INDICATION">Pain &amp; cough</AbstractText>
    <AbstractText Label="FINDINGS">Film {k}: a small effusion.</AbstractText>
    <AbstractText Label="IMPRESSION">Effusion.</AbstractText>
  </Abstract></Article></MedlineCitation>
  <MeSH>
    <major>Pleural Effusion/left/small</major>
    <automatic>pleural effusion</automatic>{more}
  </MeSH>
  <parentImage id="CXR{k}_IM-0001-1001"><figureId>F1</figureId></parentImage>
  <parentImage id="CXR{k}_IM-0001-2001"><figureId>F2</figureId></parentImage>
</eCitation>
"""


def write_xml(home: Path) -> tuple[Path, Path]:
    """Six reports with two views each, and the PNG in another folder."""
    reports, pictures = home / "ecgen-radiology", home / "NLMCXR_png"
    reports.mkdir()
    pictures.mkdir()
    for k in range(6):
        more = "<automatic>Granuloma</automatic>" if k == 2 else ""
        (reports / f"{k}.xml").write_text(REPORT.format(k=k, more=more), "utf-8")
        for view in (1, 2):
            name = pictures / f"CXR{k}_IM-0001-{view}001.png"
            Image.fromarray(np.full((8, 8), 40 * k, np.uint8)).save(name)
    return reports, pictures


def test_the_table_gives_films_reports_labels_and_its_own_splits(tmp_path: Path) -> None:
    splits = open_splits(f"open-i:{write_table(tmp_path / 'a')},size=16")
    assert {name: len(split) for name, split in splits.items()} == {"train": 6, "val": 2, "test": 2}
    train = splits["train"]
    assert train.columns["targets"].classes == ("Cardiomegaly", "Pleural Thickening")
    record = train[4]
    assert record.image.shape == (16, 16, 3) and abs(int(record.image.mean()) - 40) < 2
    assert record["targets"].tolist() == [0, 1] and record["targets"].dtype == np.float32
    assert record["group"] == "CXR4"
    assert record["text"] == 'The heart, film 4.\nClear lungs. 1. "Normal, 4".'
    assert train.rule.startswith("16×16: upright by EXIF")


def test_one_section_one_label_and_other_splits(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "a")
    splits = open_splits(f"open-i:{folder},size=16,text=findings,labels=Pleural Thickening")
    train = splits["train"]
    assert train.columns["targets"].classes == ("Pleural Thickening",)
    assert train[0]["text"] == "The heart, film 0.\nClear lungs."
    assert "text" not in train[3] and train.columns["text"].present.sum() == 5
    usual = open_splits(f"open-i:{folder},size=16")
    assert usual["train"].fingerprint != train.fingerprint
    seeded = open_splits(f"open-i:{folder},size=16,seed=3")
    assert {name: len(split) for name, split in seeded.items()} == {"train": 7, "val": 1, "test": 2}
    (tmp_path / "p.csv").write_text("patient,split\nCXR1,train\nCXR9,test\n")
    listed = open_splits(f"open-i:{folder},size=16,splits={tmp_path / 'p.csv'}")
    assert {name: split.ids[0] for name, split in listed.items()} == {
        "train": "CXR1_IM-0001",
        "test": "CXR9_IM-0009",
    }


def test_a_zip_is_read_as_its_folder(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "open-i")
    archive = shutil.make_archive(str(tmp_path / "zip"), "zip", tmp_path, "open-i")
    one, other = open_splits(f"open-i:{archive},size=16"), open_splits(f"open-i:{folder},size=16")
    assert {n: s.fingerprint for n, s in one.items()} == {
        n: s.fingerprint for n, s in other.items()
    }
    assert np.array_equal(one["test"].images([1]), other["test"].images([1]))


def test_xml_reports_and_png(tmp_path: Path) -> None:
    reports, pictures = write_xml(tmp_path)
    splits = open_splits(f"open-i:{reports},images={pictures},size=8,text=findings")
    groups = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 6
    records = {record.id: record for split in splits.values() for record in split}
    assert len(records) == 12
    record = records["CXR2_IM-0001-2001"]
    assert record["text"] == "Film 2: a small effusion." and (record.image == 80).all()
    classes = splits["train"].columns["targets"].classes
    true = [name for name, there in zip(classes, record["targets"], strict=True) if there]
    assert true == ["Effusion", "Granuloma"] and classes == tuple(STEMS)
    (reports / "views.csv").write_text(
        "image,view\n"
        + "".join(f"CXR{k}_IM-0001-1001,PA\nCXR{k}_IM-0001-2001,LL\n" for k in range(6))
    )
    frontal = open_splits(f"open-i:{reports},images={pictures},size=8")
    assert sum(map(len, frontal.values())) == 6
    assert all(i.endswith("1001") for split in frontal.values() for i in split.ids)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["CXR9_IM-0009", "test", "a", "b", "0", "2"], "lab_Pleural_Thickening is 0 or 1, not '2'"),
        (["CXR9_IM-0009", "test", "a", "b", "0"], "expected 6 columns, found another number"),
        (
            ["CXR9_IM-0009", "test", "a", "b", "0", "0", "0"],
            "expected 6 columns, found another number",
        ),
        (["", "test", "a", "b", "0", "0"], "the id is empty"),
        (["CXR10_IM-0010", "test", "a", "b", "0", "0"], "there is no file CXR10_IM-0010.jpg"),
        (["CXR1_IM-0001", "test", "a", "b", "0", "0"], "the id 'CXR1_IM-0001' is already that of"),
        (["CXR9_IM-0009", "tset", "a", "b", "0", "0"], "Unknown split 'tset'. Did you mean 'test'"),
    ],
)
def test_bad_rows_are_named_or_skipped(tmp_path: Path, row: list[str], message: str) -> None:
    folder = write_table(tmp_path / "a", [*rows()[:9], row])
    with pytest.raises(PolymodalError) as caught:
        open_splits(f"open-i:{folder},size=16")
    told = str(caught.value)
    assert message in told and "table.csv:" in told and "--skip-bad" in told
    left = open_splits(f"open-i:{folder},size=16", skip_bad=True)
    assert len(left.skipped) == 1 and sum(map(len, left.values())) == 9


def test_a_truncated_film_is_named_and_skipped(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "a")
    film = folder / "CXR2_IM-0002.jpg"
    film.write_bytes(film.read_bytes()[:300])
    left = open_splits(f"open-i:{folder},size=16", skip_bad=True)
    assert [flaw.kind for flaw in left.skipped] == ["truncated image"]
    assert "CXR2_IM-0002.jpg" in left.skipped[0].where


def test_a_table_whose_splits_divide_a_patient_is_refused(tmp_path: Path) -> None:
    table = rows()
    table[9][0], table[0][0] = "CXR0_IM-0009", "CXR0_IM-0000"
    folder = write_table(tmp_path / "a", table)
    shutil.copy(folder / "CXR9_IM-0009.jpg", folder / "CXR0_IM-0009.jpg")
    with pytest.raises(PolymodalError, match=r"the patient CXR0 is in test, but in train at .*:3"):
        open_splits(f"open-i:{folder},size=16")
    seeded = open_splits(f"open-i:{folder},size=16,seed=0")
    assert sum("CXR0" in set(split.columns["group"]) for split in seeded.values()) == 1
    table[0][1] = ""
    with pytest.raises(PolymodalError, match="no split, though other films have one"):
        open_splits(f"open-i:{write_table(folder, table)},size=16")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (",text=all", "Unknown text of open-i: 'all'. Known: findings, impression, report."),
        (
            ",labels=Cardiomegali",
            "Unknown label of open-i: 'Cardiomegali'. Did you mean 'Cardiomegaly'",
        ),
        (",size=0", "at least 1 pixel"),
        (",label=x", "Unknown option of open-i: 'label'. Did you mean 'labels'"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: str, message: str) -> None:
    with pytest.raises(PolymodalError) as caught:
        open_splits(f"open-i:{write_table(tmp_path / 'a')}{options}")
    assert message in str(caught.value)


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PolymodalError, match=r"neither a table.csv nor XML reports"):
        open_splits(f"open-i:{tmp_path / 'empty'}")
    (tmp_path / "empty" / "table.csv").write_text("id,findings\n")
    with pytest.raises(
        PolymodalError, match="expected the columns id,findings,impression, found: id,findings"
    ):
        open_splits(f"open-i:{tmp_path / 'empty'}")
    (tmp_path / "empty" / "table.csv").write_text("id,findings,impression\n")
    with pytest.raises(PolymodalError, match="expected columns of labels, lab_…, found: id,"):
        open_splits(f"open-i:{tmp_path / 'empty'}")
    folder = write_table(tmp_path / "none", [])
    with pytest.raises(PolymodalError, match="no film with a report is left"):
        open_splits(f"open-i:{folder}")


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ("<eCitation><uId", "1.xml:1: the XML is broken"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><eCitation/>", "it declares a document type"),
        ("<eCitation/>", "1.xml: there is no uId with an id. Is it an Open-I report?"),
        (REPORT.format(k=77, more=""), "there is no file CXR77_IM-0001-1001.jpg"),
    ],
)
def test_bad_reports_are_named_or_skipped(tmp_path: Path, spoilt: str, message: str) -> None:
    reports, pictures = write_xml(tmp_path)
    (reports / "1.xml").write_text(spoilt, "utf-8")
    with pytest.raises(PolymodalError) as caught:
        open_films(reports, Films(images=str(pictures), size=8))
    assert message in str(caught.value) and "1.xml" in str(caught.value)
    left = open_films(reports, Films(images=str(pictures), size=8, skip_bad=True))
    assert sum(map(len, left.values())) == 10 and len(left.skipped) in (1, 2)
    (reports / "views.csv").write_text("name,view\n")
    with pytest.raises(PolymodalError, match="expected the columns image,view, found: name,view"):
        open_films(reports, Films(images=str(pictures), size=8))


@pytest.mark.skipif(not OPEN_I.exists(), reason=f"{OPEN_I.name} is not beside the repository")
def test_the_real_films() -> None:
    splits = open_splits(f"open-i:{OPEN_I},size=32,text=findings")
    assert {n: len(s) for n, s in splits.items()} == {"train": 2069, "val": 296, "test": 590}
    classes = splits["train"].columns["targets"].classes
    assert classes == tuple(STEMS)
    with zipfile.ZipFile(OPEN_I) as archive:
        text = archive.read("open-i-224/table.csv").decode().splitlines(keepends=True)
    terms = {row["id"]: row["mesh_automatic"] for row in csv.DictReader(text)}
    for split in splits.values():
        for id, values in zip(split.ids, split.columns["targets"].values, strict=True):
            assert [labels_of(terms[id])[name] for name in classes] == (values > 0).tolist()
    assert all(splits["test"].columns["text"])
    assert splits["val"].images([0, 1]).std() > 20
