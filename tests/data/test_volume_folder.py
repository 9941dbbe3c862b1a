"""Folders of BraTS: NIfTI in the names of its years, MetaImage of 2015, and what is wrong in them."""

import gzip
import shutil
import zlib
from pathlib import Path

import nibabel
import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.data.formats.volumes import read_volume, write_volume
from polymodal.data.modalities import MR, modalities
from polymodal.data.sources import open_splits
from polymodal.data.volume_folder import Volumes, open_volumes

SHAPE = (5, 6, 4)
"""Columns, rows and planes, as NIfTI has them."""

AFFINE = np.array([[-1.5, 0.2, 0, 60], [0, -2, 0, 70], [0.1, 0, 3, -40], [0, 0, 0, 1.0]])

OLD = {"t1": "_t1", "t1c": "_t1ce", "t2": "_t2", "flair": "_flair", "seg": "_seg"}
NEW = {"t1": "-t1n", "t1c": "-t1c", "t2": "-t2w", "flair": "-t2f", "seg": "-seg"}


def voxels(kind: str, patient: int, most: int = 4) -> np.ndarray:
    """Numbers that tell where they are, of whom and of what; a mask with three labels."""
    i, j, k = np.indices(SHAPE)
    if kind == "seg":
        return np.select(
            [(i == 1) & (j == 2), (i == 2) & (k == 1), i == 4], [1, 2, most], 0
        ).astype("u1")
    return (100 * i + 10 * j + k + 1000 * patient + 5 * list(OLD).index(kind)).astype("i2")


def save(path: Path, values: np.ndarray, affine: np.ndarray = AFFINE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(values, affine), path)


def write_old(folder: Path, patients: int = 6) -> Path:
    for p in range(patients):
        id = f"BraTS20_Training_{p:03d}"
        for kind, end in OLD.items():
            save(folder / id / f"{id}{end}.nii.gz", voxels(kind, p))
    return folder


def write_new(folder: Path) -> Path:
    for p, visit in [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]:
        id = f"BraTS-GLI-{p:05d}-{visit:03d}"
        for kind, end in NEW.items():
            save(folder / id / f"{id}{end}.nii.gz", voxels(kind, p, 3))
    return folder


def metaimage(values: np.ndarray, packed: bool = False, **more: str) -> bytes:
    """A MetaImage of voxels i, j, k as SimpleITK writes it."""
    kind = {"u1": "MET_UCHAR", "i2": "MET_SHORT", "f4": "MET_FLOAT"}[values.dtype.str[1:]]
    told = {
        "ObjectType": "Image", "NDims": "3", "BinaryData": "True", "BinaryDataByteOrderMSB": "False",
        "CompressedData": str(packed), "TransformMatrix": "1 0 0 0 1 0 0 0 1", "Offset": "0 -239 0",
        "ElementSpacing": "1 1 1", "DimSize": " ".join(map(str, values.shape)), "ElementType": kind,
        **more, "ElementDataFile": "LOCAL",
    }  # fmt: skip
    body = values.transpose(2, 1, 0).tobytes()
    head = "".join(f"{key} = {value}\n" for key, value in told.items()).encode()
    return head + (zlib.compress(body) if packed else body)


def write_2015(folder: Path) -> Path:
    for p, (grade, id) in enumerate(
        [("HGG", "brats_2013_pat0001_1"), ("HGG", "brats_tcia_pat105_0001"),
         ("HGG", "brats_tcia_pat105_0002"), ("LGG", "brats_2013_pat0008_1")]
    ):  # fmt: skip
        for number, (kind, name) in enumerate(
            {
                "t1": "MR_T1",
                "t1c": "MR_T1c",
                "t2": "MR_T2",
                "flair": "MR_Flair",
                "seg": "OT",
            }.items()
        ):
            stem = f"VSD.Brain{'_3more' * (kind == 'seg')}.XX.O.{name}.{54513 + number}"
            home = folder / grade / id / stem
            home.mkdir(parents=True)
            values = voxels(kind, p)
            if kind == "seg":
                values[0, 0, 0] = 3
            (home / f"{stem}.mha").write_bytes(metaimage(values, packed=number % 2 == 0))
    return folder


def records(splits) -> dict:
    return {record.id: record for split in splits.values() for record in split}


@pytest.mark.parametrize(("write", "end"), [(write_old, 4), (write_new, 3)])
def test_both_years_of_names_give_sequences_masks_and_affines(tmp_path: Path, write, end) -> None:
    splits = open_splits(f"brats:{write(tmp_path / 'b')},scaled=no")
    assert all(modalities(split) == MR for split in splits.values())
    found = records(splits)
    id = next(i for i in found if "1" in i[-5:])
    patient = int(id[-3:]) if end == 4 else int(id.split("-")[2])
    for kind in MR:
        assert found[id][kind].dtype == np.float32
        assert np.array_equal(found[id][kind], voxels(kind, patient).transpose(2, 1, 0)[None])
    labels = voxels("seg", patient, end).transpose(2, 1, 0)
    expected = np.where(labels == end, 3, labels)
    assert np.array_equal(found[id]["mask"], expected) and found[id]["mask"].dtype == np.uint8
    assert splits["train"].columns["mask"].classes == (
        "background",
        "necrosis",
        "oedema",
        "enhancing",
    )
    assert np.allclose(found[id]["affine"], AFFINE, atol=1e-5)
    assert splits["train"].columns["t2"].batch([0]).shape == (1, 1, 4, 6, 5)


def test_2015_in_metaimage_where_two_visits_are_one_patient(tmp_path: Path) -> None:
    splits = open_splits(f"brats:{write_2015(tmp_path / 'b')},scaled=no")
    found = records(splits)
    assert {r["group"] for r in found.values()} == {
        "brats_2013_pat0001", "brats_tcia_pat105", "brats_2013_pat0008",
    }  # fmt: skip
    record = found["brats_tcia_pat105_0002"]
    assert np.array_equal(record["flair"], voxels("flair", 2).transpose(2, 1, 0)[None])
    labels = voxels("seg", 2).transpose(2, 1, 0)
    expected = np.where(labels == 4, 3, labels)
    expected[0, 0, 0] = 1  # the part that does not enhance
    assert np.array_equal(record["mask"], expected)
    assert np.array_equal(
        record["affine"], [[-1, 0, 0, 0], [0, -1, 0, 239], [0, 0, 1, 0], [0, 0, 0, 1]]
    )


def test_no_patient_is_in_two_splits(tmp_path: Path) -> None:
    for seed in range(4):
        splits = open_splits(f"brats:{write_new(tmp_path / 'b')},seed={seed}")
        groups = [set(split.columns["group"]) for split in splits.values()]
        assert sum(map(len, groups)) == len(set.union(*groups)) == 4
        assert sum(map(len, splits.values())) == 5


def test_volumes_are_scaled_and_cut(tmp_path: Path) -> None:
    folder = write_old(tmp_path / "b", 4)
    record = open_splits(f"brats:{folder}")["train"][0]
    raw = open_splits(f"brats:{folder},scaled=no")["train"][0]
    lit = raw["t1"][raw["t1"] != 0]
    assert np.allclose(record["t1"], raw["t1"] / np.quantile(lit, 0.995), rtol=1e-6)
    small = open_splits(f"brats:{folder},scaled=no,crop=2x8x3")["train"][0]
    assert small["t1"].shape == (1, 2, 8, 3) and small["mask"].shape == (2, 8, 3)
    assert np.array_equal(small["t1"][0, :, 1:7], raw["t1"][0, 1:3, :, 1:4])
    assert not small["t1"][0, :, [0, 7]].any()
    # voxel 0, 1, 0 of the cut volume was 1, 0, 1
    assert np.allclose(small["affine"] @ [0, 1, 0, 1], raw["affine"] @ [1, 0, 1, 1])


def test_a_zip_is_read_as_its_folder(tmp_path: Path) -> None:
    folder = write_old(tmp_path / "brats", 4)
    archive = shutil.make_archive(str(tmp_path / "zip"), "zip", tmp_path, "brats")
    one, other = open_splits(f"brats:{archive}"), open_splits(f"brats:{folder}")
    assert {n: s.fingerprint for n, s in one.items()} == {
        n: s.fingerprint for n, s in other.items()
    }
    assert np.array_equal(one["train"][0]["t2"], other["train"][0]["t2"])


def test_scans_that_lack_modalities_may_be_taken(tmp_path: Path) -> None:
    folder = write_old(tmp_path / "b")
    for p, end in [(1, "_t1"), (1, "_flair"), (4, "_t2")]:
        (folder / f"BraTS20_Training_{p:03d}/BraTS20_Training_{p:03d}{end}.nii.gz").unlink()
    with pytest.raises(
        PolymodalError,
        match=r"patient BraTS20_Training_001, .*: there is no file of t1 and no flair, only of seg, t1c, t2",
    ):
        open_splits(f"brats:{folder}")
    found = records(open_splits(f"brats:{folder},partial=yes"))
    assert "t1" not in found["BraTS20_Training_001"] and "t2" in found["BraTS20_Training_001"]
    assert len(open_splits(f"brats:{folder}", skip_bad=True).skipped) == 2


def test_planes_of_volumes_may_be_items(tmp_path: Path) -> None:
    folder = write_old(tmp_path / "b")
    (folder / "BraTS20_Training_003/BraTS20_Training_003_t2.nii.gz").unlink()
    whole = records(open_splits(f"brats:{folder},scaled=no,partial=yes"))
    splits = open_splits(f"brats:{folder},scaled=no,partial=yes,slices=2")
    found = records(splits)
    assert len(found) == 12 and splits["train"].rule.startswith("2 planes of 4×6×5; as in")
    for id, record in found.items():
        scan, plane = id.split("/")
        assert record["flair"].shape == (1, 6, 5) and record["mask"].dtype == np.uint8
        assert np.array_equal(record["flair"], whole[scan]["flair"][:, int(plane)])
        assert np.array_equal(record["mask"], whole[scan]["mask"][int(plane)])
        assert ("t2" in record) == ("003" not in scan)
    groups = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 6
    scaled = records(open_splits(f"brats:{folder},partial=yes,slices=2"))
    exact = records(open_splits(f"brats:{folder},partial=yes"))
    one = "BraTS20_Training_001"
    assert np.allclose(scaled[f"{one}/001"]["t1c"], exact[one]["t1c"][:, 1], atol=1e-3)


def spoil(folder: Path, what: str) -> None:
    home = folder / "BraTS20_Training_002"
    path, mask = (home / f"BraTS20_Training_002{end}.nii.gz" for end in ("_t2", "_seg"))
    values = voxels("t2", 2)
    if what == "shape":
        save(path, values[:, :, :3])
    elif what == "affine":
        save(path, values, AFFINE + np.diag([0, 0.5, 0, 0]))
    elif what == "labels":
        save(mask, np.full(SHAPE, 3, "u1"))
    elif what == "cut":
        path.write_bytes(path.read_bytes()[:200])
    elif what == "cut early":
        path.write_bytes(path.read_bytes()[:40])
    elif what == "code":
        content = bytearray(gzip.decompress(path.read_bytes()))
        content[70:72] = b"\x63\x00"  # a type of voxels that there is not
        path.write_bytes(gzip.compress(bytes(content)))
    elif what == "text":
        path.write_text("no volume")
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "not nifti":
        path.write_bytes(gzip.compress(b"no volume" * 100))
    elif what == "short":
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-40]))
    elif what == "4d":
        save(path, np.stack([values, values], -1))
    elif what == "nan":
        save(path, np.where(values == values.max(), np.nan, values).astype(np.float32))
    elif what == "twice":
        save(home / "BraTS20_Training_002_t2.nii", values)
    elif what == "other scan":
        for end in OLD.values():
            name = home / f"BraTS20_Training_002{end}.nii.gz"
            image = nibabel.load(name)
            save(name, np.asarray(image.dataobj)[:, 1:].copy(), image.affine)


ON_READING = ("labels", "short", "nan", "cut")
"""What is found when voxels are read, not when headers are."""


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("shape", "_t2.nii.gz: patient BraTS20_Training_002: its shape is 3×6×5, but that of flair 4×6×5."),
        ("affine", "_t2.nii.gz: patient BraTS20_Training_002: its affine differs from that of flair"),
        ("labels", "_seg.nii.gz: patient BraTS20_Training_002: the mask has unknown labels: 3. Known: "
                   "0 background, 1 necrosis, 2 oedema, 4 enhancing."),
        ("cut", "_t2.nii.gz: patient BraTS20_Training_002: the file is cut off or damaged"),
        ("cut early", "_t2.nii.gz: patient BraTS20_Training_002: the file is cut off or damaged"),
        ("code", "_t2.nii.gz: patient BraTS20_Training_002: its voxels are of a type that is not known (99)"),
        ("text", "_t2.nii.gz: patient BraTS20_Training_002: the file is cut off or damaged"),
        ("empty", "_t2.nii.gz: patient BraTS20_Training_002: "),
        ("not nifti", "_t2.nii.gz: patient BraTS20_Training_002: this is no NIfTI file, whatever its name"),
        ("short", "_t2.nii.gz: patient BraTS20_Training_002: the file is cut off or damaged (Expected 240"),
        ("4d", "_t2.nii.gz: patient BraTS20_Training_002: it has the shape 5×6×4×2, but one"),
        ("nan", "_t2.nii.gz: patient BraTS20_Training_002: it has voxels that are not finite"),
        ("twice", "patient BraTS20_Training_002: its t2 is also "),
        ("other scan", "_seg.nii.gz: patient BraTS20_Training_002: it has the shape 4×5×5, but "
                       "BraTS20_Training_000 4×6×5. Bring all to one with ,crop="),
    ],
)  # fmt: skip
def test_what_is_bad_names_patient_and_file_or_is_skipped(
    tmp_path: Path, what: str, message: str
) -> None:
    folder = write_old(tmp_path / "b")
    spoil(folder, what)
    with pytest.raises(PolymodalError) as caught:
        splits = open_volumes(folder, Volumes())
        assert what in ON_READING
        records(splits)
    assert message in str(caught.value) and "--skip-bad" in str(caught.value)
    left = open_splits(f"brats:{folder}", skip_bad=True)
    lost = 0 if what == "twice" else 1
    assert len(left.skipped) == 1 and len(records(left)) == 6 - lost


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its header does not end with ElementDataFile"),
        (b"\x00\xff\x12", "its header does not end with ElementDataFile"),
        (metaimage(voxels("t1", 0))[:-10], "it should have 240 bytes of voxels, but has 230"),
        (metaimage(voxels("t1", 0)) + b"x", "it should have 240 bytes of voxels, but has more"),
        (
            metaimage(voxels("t1", 0), packed=True)[:-30],
            "it should have 240 bytes of voxels, but has",
        ),
        (metaimage(voxels("t1", 0), CompressedData="True"), "its voxels cannot be unpacked"),
        (metaimage(voxels("t1", 0), ElementType="MET_LONG"), "its ElementType is MET_LONG"),
        (
            metaimage(voxels("t1", 0), DimSize="5 6"),
            "its DimSize should be 3 numbers, but is '5 6'",
        ),
        (metaimage(voxels("t1", 0), DimSize="5 6 0"), "its DimSize is 5 6 0"),
        (metaimage(voxels("t1", 0), Offset="a b c"), "its Offset should be 3 numbers"),
        (metaimage(voxels("t1", 0), ElementNumberOfChannels="3"), "it has several numbers a voxel"),
        (metaimage(voxels("t1", 0)).replace(b"LOCAL", b"a.raw"), "its voxels are in another file"),
        (
            metaimage(voxels("t1", 0), DimSize="5000 5000 5000"),
            "but at most 2,147,483,648 are read",
        ),
    ],
)
def test_metaimages_that_cannot_be(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.mha"
    path.write_bytes(content)
    with pytest.raises(PolymodalError) as caught:
        read_volume(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


def test_a_metaimage_counts_to_the_left_and_back_and_an_affine_to_the_right_and_front(
    tmp_path,
) -> None:
    """A voxel's place by hand: origin plus index × spacing along each axis's own direction."""
    path = tmp_path / "a.mha"
    turned = {
        "TransformMatrix": "0 1 0 -1 0 0 0 0 1",
        "Offset": "10 20 30",
        "ElementSpacing": "2 3 4",
    }
    big = {"BinaryDataByteOrderMSB": "True"}
    values = voxels("t1", 1)
    path.write_bytes(metaimage(values.astype(">i2"), **turned, **big))
    volume = read_volume(path)
    assert np.array_equal(volume.values, values.transpose(2, 1, 0))
    i, j, k = 2, 1, 3
    left, back, up = (
        10 - 3 * j,
        20 + 2 * i,
        30 + 4 * k,
    )  # the first axis runs back, the second right
    assert np.allclose(volume.affine @ [i, j, k, 1], [-left, -back, up, 1])


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "bool"])
def test_what_is_written_is_read_again_and_by_nibabel(
    tmp_path: Path, ending: str, dtype: str
) -> None:
    values = (np.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    path = tmp_path / f"a{ending}"
    write_volume(path, values, AFFINE)
    again = read_volume(path)
    assert np.array_equal(again.values, values) and np.allclose(again.affine, AFFINE, atol=1e-6)
    image = nibabel.load(path)
    assert image.shape == (4, 3, 2) and np.array_equal(
        np.asarray(image.dataobj)[1, 2, 0], values[0, 2, 1]
    )
    assert np.allclose(image.affine, AFFINE, atol=1e-6)


def test_scaled_integers_of_nifti_are_read_as_they_are_meant(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(np.arange(8, dtype=np.int16).reshape(2, 2, 2), AFFINE)
    image.header.set_slope_inter(0.5, 10)
    nibabel.save(image, tmp_path / "a.nii.gz")
    assert read_volume(tmp_path / "a.nii.gz").values[1, 1, 1] == pytest.approx(0.5 * 7 + 10)


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(
        PolymodalError, match=r"there is no such file. Give a .nii, .nii.gz, .mha file"
    ):
        read_volume(tmp_path / "no.nii")
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(
        PolymodalError, match=r"a.png: volumes are read from .nii, .nii.gz, .mha files"
    ):
        read_volume(tmp_path / "a.png")
    with pytest.raises(PolymodalError, match=r"volumes are written as .nii or .nii.gz"):
        write_volume(tmp_path / "a.mha", np.zeros((1, 1, 1)), AFFINE)
    with pytest.raises(PolymodalError, match=r"there are no scans. Expected a folder for each"):
        open_splits(f"brats:{tmp_path}")
    with pytest.raises(
        PolymodalError, match="crop is planes, rows and columns, each from 1 to 1024, not"
    ):
        open_splits(f"brats:{tmp_path},crop=128")
    with pytest.raises(PolymodalError, match="slices is at most 1024 of each scan, not 2000"):
        open_splits(f"brats:{tmp_path},slices=2000")
    with pytest.raises(
        PolymodalError, match=r"Unknown option of brats: 'corp'. Did you mean 'crop'"
    ):
        open_splits(f"brats:{tmp_path},corp=1x1x1")


def test_without_nibabel_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    folder = write_old(tmp_path / "b", 3)
    monkeypatch.setitem(__import__("sys").modules, "nibabel", None)
    with pytest.raises(
        PolymodalError, match=r"need nibabel, .* pip install 'polymodal\[medical\]'"
    ):
        open_splits(f"brats:{folder}")


def test_scans_are_shown(tmp_path: Path) -> None:
    folder, out = write_old(tmp_path / "b"), tmp_path / "sheet.png"
    assert main(["data", "show", f"brats:{folder}", "--out", str(out), "--count", "2"]) == 0
    assert out.stat().st_size > 1000
