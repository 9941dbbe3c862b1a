"""Slices of patients in image files: the format of lgg-128.zip, files a modality, and what is wrong."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import roc_auc_score

from polymodal.base.errors import PolymodalError
from polymodal.data.modalities import modalities
from polymodal.data.slice_folder import Slices, open_slices
from polymodal.data.sources import open_splits

LGG = Path(__file__).parents[3] / "shared" / "data" / "lgg-128.zip"

PATIENTS, EACH = 10, 3
THREE = Slices(channels=("t1", "flair", "t1c"))


def write_lgg(folder: Path, side: int = 16) -> Path:
    """Ten patients with three slices of three channels, as lossless WebP, and slices.csv."""
    chance = np.random.default_rng(0)
    lines = ["patient,slice,tumour_pixels"]
    for p in range(PATIENTS):
        home = folder / f"TCGA_{p:02d}"
        home.mkdir(parents=True)
        for s in range(EACH):
            pixels = chance.integers(0, 256, (side, side, 3), dtype=np.uint8)
            mask = np.zeros((side, side), np.uint8)
            mask[2:6, 3 : 3 + s] = 255
            Image.fromarray(pixels).save(home / f"{s:03d}.webp", lossless=True)
            Image.fromarray(mask).save(home / f"{s:03d}_mask.png")
            lines.append(f"{home.name},{s:03d},{(mask > 0).sum()}")
    (folder / "slices.csv").write_text("\n".join(lines), "utf-8")
    return folder


def write_files(folder: Path) -> Path:
    """Four patients whose modalities have files of 16 bits; patient 0 lacks flair of slice 2."""
    for p in range(4):
        (folder / f"p{p}").mkdir(parents=True)
        for s in (2, 10):
            for k, name in enumerate(("t1", "flair")):
                if (p, s, name) != (0, 2, "flair"):
                    pixels = np.full((6, 8), 100 * (k + 1) + s, np.uint16) * 256
                    Image.fromarray(pixels).save(folder / f"p{p}/{s}_{name}.png")
            mask = np.arange(48, dtype=np.uint8).reshape(6, 8) % 4
            Image.fromarray(mask).save(folder / f"p{p}/{s}_mask.png")
    return folder


@pytest.fixture
def lgg(tmp_path: Path) -> Path:
    return write_lgg(tmp_path / "lgg")


def test_channels_are_modalities_and_no_patient_is_in_two_splits(lgg: Path) -> None:
    splits = open_splits(f"lgg:{lgg}")
    assert list(splits) == ["train", "val", "test"]
    groups = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == PATIENTS
    assert sum(map(len, splits.values())) == PATIENTS * EACH
    train = splits["train"]
    assert modalities(train) == ("t1", "flair", "t1c")
    assert train.columns["mask"].classes == ("background", "tumour")
    record = train[1]
    patient, number = record.id.split("/")
    assert record["group"] == patient
    file = np.asarray(Image.open(lgg / patient / f"{number}.webp"))
    for k, name in enumerate(modalities(train)):
        assert record[name].dtype == np.float32
        assert np.array_equal(record[name], file[None, :, :, k] / np.float32(255))
    assert record["mask"].dtype == np.uint8
    assert record["mask"].sum() == 4 * int(number)
    assert train.rule == "16×16: as in the files; uint8 as shares of its largest number"


def test_a_zip_and_a_seed_and_a_list(lgg: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "lgg-128"), "zip", lgg.parent, lgg.name)
    one, other = open_splits(f"lgg:{archive}"), open_splits(f"lgg:{lgg}")
    assert {n: s.fingerprint for n, s in one.items()} == {
        n: s.fingerprint for n, s in other.items()
    }
    seeded = open_splits(f"lgg:{lgg},seed=1")
    assert set(seeded["test"].columns["group"]) != set(one["test"].columns["group"])
    table = tmp_path / "patients.csv"
    table.write_text("patient,split\nTCGA_03,train\nTCGA_01,test\nTCGA_02,train\n", "utf-8")
    listed = open_splits(f"lgg:{lgg},splits={table}")
    assert {n: sorted(set(s.columns["group"])) for n, s in listed.items()} == {
        "train": ["TCGA_02", "TCGA_03"],
        "test": ["TCGA_01"],
    }


def test_without_a_list_the_folders_tell_which_slices_there_are(lgg: Path) -> None:
    listed = open_slices(lgg, THREE)
    (lgg / "slices.csv").unlink()
    found = open_slices(lgg, THREE)
    assert {n: s.fingerprint for n, s in listed.items()} == {
        n: s.fingerprint for n, s in found.items()
    }


def test_tiff_named_after_the_patient_as_in_kaggle_3m(lgg: Path) -> None:
    listed = open_slices(lgg, THREE)
    for path in [*lgg.glob("*/*.webp"), *lgg.glob("*/*_mask.png")]:
        number = int(path.stem.removesuffix("_mask"))
        mask = "_mask" if path.stem.endswith("_mask") else ""
        Image.open(path).save(path.parent / f"{path.parent.name}_{number}{mask}.tif")
        path.unlink()
    (lgg / "slices.csv").unlink()
    found = open_splits(f"lgg:{lgg}")
    assert found["test"].ids[1] == "{0}/{0}_1".format(found["test"][1]["group"])
    for name, split in listed.items():
        rows = range(len(split))
        for column in ("t1", "flair", "t1c", "mask"):
            other = found[name].columns[column].batch(rows)
            assert np.array_equal(split.columns[column].batch(rows), other)


def test_a_file_a_modality_with_16_bits_several_classes_and_one_missing(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "own")
    name = f"slices:{folder},files=t1+flair,classes=background+necrosis+oedema+enhancing"
    with pytest.raises(PolymodalError, match=r"patient p0: there is no file 2_flair. Add it"):
        open_splits(name)
    splits = open_splits(f"{name},partial=yes")
    records = {record.id: record for split in splits.values() for record in split}
    assert len(records) == 8 and "flair" not in records["p0/2"]
    assert records["p1/10"]["flair"] == pytest.approx(np.float32(210 * 256 / 65535))
    assert records["p1/10"]["mask"].tolist()[0] == [0, 1, 2, 3] * 2
    left = open_splits(name, skip_bad=True)
    assert [flaw.kind for flaw in left.skipped] == ["missing file"]
    assert sum(map(len, left.values())) == 7
    order = [i for split in splits.values() for i in split.ids]
    assert all(order.index(f"p{p}/2") < order.index(f"p{p}/10") for p in range(4))


def test_slices_are_brought_to_one_size(lgg: Path) -> None:
    splits = open_splits(f"lgg:{lgg},size=8")
    assert splits["train"].columns["t1"].batch([0]).shape == (1, 1, 8, 8)
    assert set(np.unique(splits["train"].columns["mask"].batch([0, 1, 2]))) == {0, 1}
    assert splits["train"].columns["t1"].rule.fit == "resized"
    assert open_splits(f"lgg:{lgg}")["train"].columns["t1"].rule.fit == "free"


def spoil(lgg: Path, what: str) -> None:
    home = lgg / "TCGA_04"
    picture, mask = home / "001.webp", home / "001_mask.png"
    if what == "truncated":
        picture.write_bytes(picture.read_bytes()[:100])
    elif what == "empty":
        mask.write_bytes(b"")
    elif what == "text":
        mask.write_text("no picture")
    elif what == "gone":
        mask.unlink()
    elif what == "labels":
        Image.fromarray(np.full((16, 16), 7, np.uint8)).save(mask)
    elif what == "small mask":
        Image.fromarray(np.zeros((8, 16), np.uint8)).save(mask)
    elif what == "colour mask":
        Image.fromarray(np.zeros((16, 16, 3), np.uint8)).save(mask)
    elif what == "gray":
        Image.fromarray(np.zeros((16, 16), np.uint8)).save(picture, lossless=True)
        Image.fromarray(np.zeros((16, 16), np.uint8)).save(home / "001.png")
        picture.unlink()
    elif what == "large":
        Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(picture, lossless=True)
        Image.fromarray(np.zeros((32, 32), np.uint8)).save(mask)
    elif what == "deep":
        Image.fromarray(np.zeros((16, 16), np.int32)).save(home / "001_mask.tif")
        mask.unlink()
    elif what in ("twice", "unnamed"):
        line = {"twice": "TCGA_04,001,0", "unnamed": "TCGA_04,,0"}[what]
        with (lgg / "slices.csv").open("a") as file:
            file.write(f"\n{line}")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("truncated", "TCGA_04/001.webp: patient TCGA_04: the image is cut off or damaged"),
        ("empty", "TCGA_04/001_mask.png: patient TCGA_04: the image file has 0 bytes"),
        ("text", "TCGA_04/001_mask.png: patient TCGA_04: this is no image"),
        ("gone", "TCGA_04: patient TCGA_04 (listed at {lgg}/slices.csv:15): there is no file 001_mask"),
        ("labels", "001_mask.png: patient TCGA_04: the mask has unknown labels: 7. Known: "
                   "0 background, 1 tumour, 255 tumour."),
        ("small mask", "001_mask.png: patient TCGA_04: it has 8×16 pixels, but the slice's first file 16×16"),
        ("colour mask", "001_mask.png: patient TCGA_04: the mask has 3 channels, but 1 are expected"),
        ("gray", "001.png: patient TCGA_04: the image has 1 channel, but 3 (t1, flair, t1c) are expected"),
        ("large", "001_mask.png: patient TCGA_04: the slice is uint8 of [32, 32], but TCGA_00/000 uint8 of "
                  "[16, 16]. Bring all to one size with ,size=128"),
        ("deep", "001_mask.tif: patient TCGA_04: it has 32 bits a number"),
        ("twice", "slices.csv:32: the slice 001 of patient TCGA_04 is at {lgg}/slices.csv:15 already"),
        ("unnamed", "slices.csv:32: expected the names of a patient and a slice, found 'TCGA_04' and ''"),
    ],
)  # fmt: skip
def test_what_is_bad_is_named_or_skipped_and_counted(lgg: Path, what: str, message: str) -> None:
    spoil(lgg, what)
    with pytest.raises(PolymodalError) as caught:
        open_slices(lgg, THREE)
    assert message.format(lgg=lgg) in str(caught.value) and "--skip-bad" in str(caught.value)
    left = open_splits(f"lgg:{lgg}", skip_bad=True)
    lost = 0 if what in ("twice", "unnamed") else 1
    assert len(left.skipped) == 1 and sum(map(len, left.values())) == PATIENTS * EACH - lost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (",channels=t1+t1", "channels is a list of different names joined by +, not 't1+t1'"),
        (",chanels=t1", "Unknown option of lgg: 'chanels'. Did you mean 'channels'"),
        (",channels=t1,files=t2", "Give one of the two"),
        (",classes=tumour", "A mask has 2 to 255 classes, but classes names 1"),
        (",size=9999", "at most 4096, but is 9999"),
        (",seed=x", "seed is a whole number, not 'x'"),
        (",files=swi", "no file 000_swi"),
        (
            ",splits=nowhere.csv",
            "nowhere.csv: there is no such file. Give a CSV with patient,split",
        ),
    ],
)
def test_options_that_cannot_be(lgg: Path, options: str, message: str) -> None:
    with pytest.raises(PolymodalError) as caught:
        open_splits(f"lgg:{lgg}{options}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("patient,part\na,train", "expected the columns patient,split, found: patient,part"),
        (
            "patient,split\nTCGA_01,training",
            "p.csv:2: Unknown split 'training'. Did you mean 'train'",
        ),
        (
            "patient,split\nTCGA_01,train\nTCGA_01,test",
            "p.csv:3: the patient 'TCGA_01' is in train already",
        ),
        (
            "patient,split\nTCGA_99,train",
            "there is no patient 'TCGA_99' in the data, which have: TCGA_00,",
        ),
        ("patient,split\n", "no patient is in it"),
    ],
)
def test_lists_that_cannot_be(lgg: Path, tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "p.csv").write_text(table, "utf-8")
    with pytest.raises(PolymodalError) as caught:
        open_splits(f"lgg:{lgg},splits={tmp_path / 'p.csv'}")
    assert message in str(caught.value)


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        PolymodalError, match=r"there are no slices. Expected a folder for each patient"
    ):
        open_splits(f"lgg:{tmp_path / 'empty'}")
    with pytest.raises(
        PolymodalError, match="Modalities are channels of one file or files of their"
    ):
        open_splits(f"slices:{tmp_path / 'empty'}")
    with pytest.raises(
        PolymodalError, match=r"'lgg' is not how these data are named. Write lgg:PATH"
    ):
        open_splits("lgg")
    (tmp_path / "empty" / "slices.csv").write_text("name,slice\n")
    with pytest.raises(
        PolymodalError, match="expected the columns patient,slice, found: name,slice"
    ):
        open_splits(f"lgg:{tmp_path / 'empty'}")
    folder = write_lgg(tmp_path / "twice")
    shutil.copy(folder / "TCGA_00/000.webp", folder / "TCGA_00/000.png")
    with pytest.raises(PolymodalError, match="the slice TCGA_00/000 is also TCGA_00/000"):
        open_splits(f"lgg:{folder}")
    folder = write_files(tmp_path / "own")
    with pytest.raises(PolymodalError, match="No slice has the modality 't2'"):
        open_splits(f"slices:{folder},files=t1+t2,classes=a+b+c+d,partial=yes")


@pytest.mark.skipif(not LGG.exists(), reason=f"{LGG.name} is not beside the repository")
def test_the_real_slices() -> None:
    splits = open_splits(f"lgg:{LGG}")
    patients = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, patients)) == len(set.union(*patients)) == 100
    assert sum(map(len, splits.values())) == 1848
    with zipfile.ZipFile(LGG) as archive:
        lines = archive.read("lgg-128/slices.csv").decode().splitlines()[1:]
    told = {"/".join(line.split(",")[:2]): int(line.split(",")[2]) for line in lines}
    test = splits["test"]
    masks = test.columns["mask"].batch(range(len(test)))
    assert {i: int(mask.sum()) for i, mask in zip(test.ids, masks, strict=True)} == {
        i: told[i] for i in test.ids
    }
    some = range(0, len(test), 6)
    inside = masks[::6].ravel()
    auc = {
        name: roc_auc_score(inside, test.columns[name].batch(some).ravel())
        for name in modalities(test)
    }
    assert auc["flair"] > 0.75 and auc["flair"] > max(auc["t1"], auc["t1c"]) + 0.1
