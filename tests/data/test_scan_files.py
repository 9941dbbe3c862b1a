"""Scans in files: as they were written, or an error that names the file."""

import builtins
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_files import Scan, numbers_of, read_scan, scaled, write_labels
from polymodal.data.scan_scales import FileRule

SHARES = FileRule(scale="shares")


def values_of(scan: Scan, name: str, rule: FileRule, exact: bool) -> np.ndarray:
    """A file's values as the dataset has them."""
    return scaled(numbers_of(scan, name, rule), scan, name, rule, exact=exact)


def test_volumes_keep_their_planes_and_their_affine(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    values = np.arange(24).reshape(2, 3, 4)
    affine = np.array([[0, 2, 0, 5], [1, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1.0]])
    write_labels(tmp_path / "a.nii.gz", values, affine)
    found = read_scan(tmp_path / "a.nii.gz")
    assert found.values.tolist() == values.tolist()
    assert found.affine.tolist() == affine.tolist()
    kept = nibabel.load(tmp_path / "a.nii.gz")
    assert kept.shape == (4, 3, 2)  # column, row, plane
    assert kept.get_fdata()[3, 1, 0] == values[0, 1, 3]


def test_labels_of_a_slice_are_a_grey_picture(tmp_path: Path) -> None:
    labels = np.array([[0, 1], [4, 0]])
    write_labels(tmp_path / "a.png", labels, None)
    assert read_scan(tmp_path / "a.png").values.tolist() == labels.tolist()
    volume = np.arange(8).reshape(2, 2, 2)
    write_labels(tmp_path / "a.npy", volume, None)
    assert read_scan(tmp_path / "a.npy").values.tolist() == volume.tolist()


def test_pictures_become_shares_of_their_types_largest_number(tmp_path: Path) -> None:
    deep = np.array([[0, 70, 40000]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    scan = read_scan(tmp_path / "deep.png")
    assert scan.values.tolist() == deep.tolist()
    assert scan.affine is None
    found = values_of(scan, "t1", SHARES, exact=True)
    assert found.dtype == np.float32
    assert found.tolist() == (deep / np.float32(65535)).tolist()
    grey = np.array([[1, 2, 3]], np.uint8)
    Image.fromarray(np.stack([grey, grey, grey, 255 + 0 * grey], -1)).save(tmp_path / "rgba.png")
    found = values_of(read_scan(tmp_path / "rgba.png"), "t1", SHARES, exact=True)
    assert found.tolist() == (grey / np.float32(255)).tolist()


def test_a_picture_of_channels_gives_the_one_that_is_the_modality(tmp_path: Path) -> None:
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    rule = replace(SHARES, channel=1, channels=3)
    found = values_of(read_scan(tmp_path / "a.png"), "flair", rule, exact=True)
    assert found.tolist() == (pixels[..., 1] / np.float32(255)).tolist()
    other = replace(SHARES, channel=1, channels=4)
    with pytest.raises(
        PolymodalError, match=r"3 channels, but flair .* with 4 channels or in grey"
    ):
        values_of(read_scan(tmp_path / "a.png"), "flair", other, exact=True)


def test_a_volume_is_divided_by_nearly_its_brightest_voxel(tmp_path: Path) -> None:
    pytest.importorskip("nibabel")
    values = np.arange(1, 25).reshape(2, 3, 4)
    write_labels(tmp_path / "a.nii", values, np.eye(4))
    found = values_of(read_scan(tmp_path / "a.nii"), "t1", FileRule(scale="brightest"), exact=True)
    np.testing.assert_allclose(found, values / (1 + 23 * 0.995), rtol=1e-6)


def test_an_array_and_files_of_the_same_units_stay_as_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[0.25, 3.0]]))
    scan = read_scan(tmp_path / "a.npy")
    assert values_of(scan, "t1", FileRule(), exact=True).tolist() == [[0.25, 3.0]]
    Image.fromarray(np.array([[7]], np.uint8)).save(tmp_path / "a.png")
    scan = read_scan(tmp_path / "a.png")
    assert values_of(scan, "t1", FileRule(scale="own"), exact=True).tolist() == [[7.0]]


@pytest.mark.parametrize("scale", ["unknown", "brightest"])
def test_a_scale_that_is_not_known_is_refused_where_it_matters(tmp_path: Path, scale: str) -> None:
    Image.fromarray(np.array([[7]], np.uint8)).save(tmp_path / "a.png")
    scan = read_scan(tmp_path / "a.png")
    assert values_of(scan, "t1", FileRule(scale=scale), exact=False).tolist() == [[7.0]]
    with pytest.raises(
        PolymodalError, match=r"a\.png: how its numbers \(uint8\) become values of t1"
    ):
        values_of(scan, "t1", FileRule(scale=scale), exact=True)


def test_bad_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "broken.nii.gz").write_bytes(b"no volume")
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    for name, message in {
        "broken.png": "cannot be read as a scan",
        "objects.npy": "cannot be read as a scan",
        "none.png": "There is no scan at",
        "broken.nii.gz": "the file is cut off or damaged",
    }.items():
        with pytest.raises(PolymodalError, match=message) as told:
            read_scan(tmp_path / name)
        assert name in str(told.value)


def test_a_coloured_picture_is_no_scan(tmp_path: Path) -> None:
    colour = np.zeros((2, 2, 3), np.uint8)
    colour[..., 0] = 9
    Image.fromarray(colour).save(tmp_path / "red.png")
    with pytest.raises(PolymodalError, match=r"red\.png is a coloured picture with 3 channels"):
        values_of(read_scan(tmp_path / "red.png"), "t1", SHARES, exact=False)


def test_a_series_of_volumes_is_refused(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2, 2, 3)), np.eye(4)), tmp_path / "a.nii")
    with pytest.raises(
        PolymodalError, match=r"a\.nii: it has the shape 2×2×2×3, but one volume is expected"
    ):
        read_scan(tmp_path / "a.nii")


def test_nibabel_is_asked_for_by_its_extra(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.nii").write_bytes(bytes(400))
    known = builtins.__import__

    def without(name, *rest):
        if name.startswith("nibabel"):
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PolymodalError, match=r"pip install 'polymodal\[medical\]'"):
        read_scan(tmp_path / "a.nii")
