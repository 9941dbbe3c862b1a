"""Scans in files: as they were written, or an error that names the file."""

import builtins
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_files import read_scan, write_labels


def test_volumes_keep_their_planes_and_their_affine(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    values = np.arange(24).reshape(2, 3, 4)
    affine = np.array([[0, 2, 0, 5], [1, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1.0]])
    write_labels(tmp_path / "a.nii.gz", values, affine)
    found, where = read_scan(tmp_path / "a.nii.gz")
    assert found.tolist() == values.tolist()
    assert where.tolist() == affine.tolist()
    kept = nibabel.load(tmp_path / "a.nii.gz")
    assert kept.shape == (4, 3, 2)  # column, row, plane
    assert kept.get_fdata()[3, 1, 0] == values[0, 1, 3]


def test_labels_of_a_slice_are_a_grey_picture(tmp_path: Path) -> None:
    labels = np.array([[0, 1], [4, 0]])
    write_labels(tmp_path / "a.png", labels, None)
    assert read_scan(tmp_path / "a.png")[0].tolist() == labels.tolist()


def test_grey_pictures_of_any_depth(tmp_path: Path) -> None:
    deep = np.array([[0, 70, 40000]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    found, affine = read_scan(tmp_path / "deep.png")
    assert found.tolist() == deep.tolist()
    assert affine is None
    grey = np.array([[1, 2, 3]], np.uint8)
    Image.fromarray(np.stack([grey, grey, grey, 255 + 0 * grey], -1)).save(tmp_path / "rgba.png")
    assert read_scan(tmp_path / "rgba.png")[0].tolist() == grey.tolist()


def test_bad_files_are_named(tmp_path: Path) -> None:
    colour = np.zeros((2, 2, 3), np.uint8)
    colour[..., 0] = 9
    Image.fromarray(colour).save(tmp_path / "red.png")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "broken.nii.gz").write_bytes(b"no volume")
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    for name, message in {
        "red.png": "is a coloured picture",
        "broken.png": "cannot be read as a scan",
        "objects.npy": "cannot be read as a scan",
        "none.png": "There is no scan at",
        "broken.nii.gz": "cannot be read as NIfTI",
    }.items():
        with pytest.raises(PolymodalError, match=message) as told:
            read_scan(tmp_path / name)
        assert name in str(told.value)


def test_a_series_of_volumes_is_refused(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2, 2, 3)), np.eye(4)), tmp_path / "a.nii")
    with pytest.raises(PolymodalError, match=r"a\.nii has 4 axes, but a volume has 3"):
        read_scan(tmp_path / "a.nii")


def test_nibabel_is_asked_for_by_its_extra(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.nii").write_bytes(b"")
    known = builtins.__import__

    def without(name, *rest):
        if name.startswith("nibabel"):
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PolymodalError, match=r"pip install 'polymodal\[medical\]'"):
        read_scan(tmp_path / "a.nii")
