"""MATLAB files that hold more than fits: refused before it is unpacked."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from polymodal.base.errors import PolymodalError
from polymodal.data.formats import archive
from polymodal.data.formats.archive import Directory
from polymodal.data.formats.mat import read_mat


@pytest.mark.parametrize("name", ["bomb", "cells"])
def test_a_variable_that_unpacks_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(archive, "LARGEST_FILE", 2**20)
    zeros = np.zeros((2**10, 2**8))
    variables = {"small": np.eye(3), "bomb": zeros, "cells": np.array([zeros, "a"], object)}
    savemat(tmp_path / "a.mat", variables, do_compression=True)
    assert (tmp_path / "a.mat").stat().st_size < 2**16
    assert (read_mat(Directory(tmp_path), "a.mat", "small")["small"] == np.eye(3)).all()
    with pytest.raises(PolymodalError) as caught:
        read_mat(Directory(tmp_path), "a.mat", "small", name)
    assert str(caught.value) == (
        f"{tmp_path / 'a.mat'}: {name!r} has more than 1,048,576 bytes unpacked, the most that are "
        "read. Is it the right file? Copy it again."
    )


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST_FILE", 2**10)
    savemat(tmp_path / "a.mat", {"a": np.zeros(1000)})
    with pytest.raises(PolymodalError, match=r"a\.mat: the file has 8,\d+ bytes .* at most 1,024"):
        read_mat(Directory(tmp_path), "a.mat", "a")


@pytest.mark.parametrize("version", ["4", "5"])
def test_other_files_are_read(tmp_path: Path, version: str) -> None:
    savemat(tmp_path / "a.mat", {"a": np.arange(6.0), "b": np.eye(2)}, format=version)
    assert read_mat(Directory(tmp_path), "a.mat", "b")["b"].tolist() == [[1, 0], [0, 1]]
