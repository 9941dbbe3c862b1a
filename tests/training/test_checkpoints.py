"""Checkpoints that tell good from broken, and are read without running what is in them."""

import os
import pickle
import tempfile
from pathlib import Path

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.training.checkpoints import SafeCheckpoints, checkpoint_path, newest, prune, step_of

STATE = {"global_step": 7, "weights": torch.arange(1000.0), "curves": [{"loss": 0.5}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = checkpoint_path(tmp_path, 7)
    SafeCheckpoints().save_checkpoint(STATE, path)
    return path


def test_round_trip(path):
    found = SafeCheckpoints().load_checkpoint(path)
    assert found["global_step"] == 7
    assert found["curves"] == [{"loss": 0.5}]
    assert torch.equal(found["weights"], STATE["weights"])


@pytest.mark.parametrize("kept", [0, 10, 200, -1])
def test_a_cut_off_file_is_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(PolymodalError, match=r"step-00000007\.ckpt is cut off or altered"):
        SafeCheckpoints().load_checkpoint(path)


@pytest.mark.parametrize("place", [0, 40, 500, -1])
def test_one_altered_byte_is_refused(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(PolymodalError, match="cut off or altered"):
        SafeCheckpoints().load_checkpoint(path)


class Dropper:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_objects_are_not_unpickled(tmp_path):
    path = tmp_path / "step-00000001.ckpt"
    SafeCheckpoints().save_checkpoint({"object": Dropper(tmp_path / "dropped")}, path)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        SafeCheckpoints().load_checkpoint(path, weights_only=False)
    assert not (tmp_path / "dropped").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_leaves_the_checkpoint_before(path, monkeypatch):
    before = path.read_bytes()
    name = str(path.with_suffix(".part"))
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (os.open("/dev/full", os.O_RDWR), name))
    with pytest.raises(PolymodalError, match="disk is full"):
        SafeCheckpoints().save_checkpoint(STATE, path)
    assert path.read_bytes() == before


def test_the_newest_whole_one_is_found_and_broken_ones_are_named(path):
    folder = path.parent
    for step in (80, 200):
        checkpoint_path(folder, step).write_bytes(path.read_bytes()[:-step])
    said: list[str] = []
    assert newest(folder, said.append) == path
    assert ["step-00000200.ckpt" in said[0], "step-00000080.ckpt" in said[1]] == [True, True]
    assert all("cut off or altered" in line and "Trying the one before" in line for line in said)


def test_no_whole_checkpoint_is_none(path):
    assert newest(path.parent / "nowhere", pytest.fail) is None
    path.write_bytes(b"")
    said: list[str] = []
    assert newest(path.parent, said.append) is None
    assert len(said) == 1


def test_pruning_keeps_the_newest_two(tmp_path):
    for step in (5, 100, 20, 9000):
        checkpoint_path(tmp_path, step).touch()
    (tmp_path / "notes.txt").touch()
    prune(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "notes.txt",
        "step-00000100.ckpt",
        "step-00009000.ckpt",
    ]


def test_steps_and_paths(tmp_path):
    assert step_of(checkpoint_path(tmp_path, 1234)) == 1234
    SafeCheckpoints().remove_checkpoint(tmp_path / "absent.ckpt")
