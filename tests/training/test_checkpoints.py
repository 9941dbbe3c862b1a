"""Checkpoints that tell good from broken, and are read without running what is in them."""

import hashlib
import io
import os
import pickle
import tempfile
from pathlib import Path

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.training.checkpoints import (
    MAGIC,
    SafeCheckpoints,
    checkpoint_path,
    newest,
    prune,
    step_of,
)

STATE = {
    "global_step": 7,
    "state_dict": {"weights": torch.arange(1000.0)},
    "curves": [{"loss": 0.5}],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = checkpoint_path(tmp_path, 7)
    SafeCheckpoints().save_checkpoint(STATE, path)
    return path


def test_round_trip(path):
    found = SafeCheckpoints().load_checkpoint(path)
    assert found["global_step"] == 7
    assert found["curves"] == [{"loss": 0.5}]
    assert torch.equal(found["state_dict"]["weights"], STATE["state_dict"]["weights"])


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
    with pytest.raises(
        PolymodalError, match=r"is no checkpoint of a training.*Nothing of it was run"
    ):
        SafeCheckpoints().load_checkpoint(path, weights_only=False)
    assert not (tmp_path / "dropped").exists()


def with_header(content: bytes) -> bytes:
    """Behind a header that vouches for it."""
    return MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def saved(value: object) -> bytes:
    content = io.BytesIO()
    torch.save(value, content)
    return content.getvalue()


FOREIGN = {
    "a pickle": lambda path: pickle.dumps(Dropper(path)),
    "a pickle that torch saved": lambda path: saved({"state_dict": Dropper(path)}),
    "a tensor": lambda path: saved(torch.ones(3)),
    "a dictionary": lambda path: saved({"a": 1}),
    "nothing": lambda path: b"",
    "some bytes": lambda path: b"\x80\x02garbage",
    "a zip file that is cut off": lambda path: saved(STATE)[:300],
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_checkpoint_is_passed_over_though_its_hash_is_right(path, kind):
    later = checkpoint_path(path.parent, 9)
    later.write_bytes(with_header(FOREIGN[kind](path.parent / "dropped")))
    said: list[str] = []
    assert newest(path.parent, said.append) == path
    assert said == [
        f"{later} is no checkpoint of a training: it holds something else than tensors and plain "
        "values. Nothing of it was run. Trying the one before."
    ]
    assert not (path.parent / "dropped").exists()


def test_a_checkpoint_with_weights_that_are_not_finite_is_passed_over(path):
    later = checkpoint_path(path.parent, 9)
    SafeCheckpoints().save_checkpoint({"state_dict": {"w": torch.tensor([torch.inf])}}, later)
    said: list[str] = []
    assert newest(path.parent, said.append) == path
    assert said == [f"{later} has weights that are not finite (w). Trying the one before."]


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
    assert len(said) == 1 and said[0].endswith("There is none before it.")


def test_pruning_keeps_the_newest_two(tmp_path):
    for step in (5, 100, 20, 9000):
        checkpoint_path(tmp_path, step).touch()
    (tmp_path / "notes.txt").touch()
    prune(tmp_path, 9000)
    assert names(tmp_path) == ["notes.txt", "step-00000100.ckpt", "step-00009000.ckpt"]


def test_bad_checkpoints_of_later_steps_do_not_push_out_good_ones(tmp_path):
    for step in (5, 100, 20, 8000, 9000):
        checkpoint_path(tmp_path, step).touch()
    (tmp_path / ".step-00000100.ckpt.abc.part").touch()  # of a kill while it was written
    prune(tmp_path, 100)
    assert names(tmp_path) == ["step-00000020.ckpt", "step-00000100.ckpt"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_steps_and_paths(tmp_path):
    assert step_of(checkpoint_path(tmp_path, 1234)) == 1234
    SafeCheckpoints().remove_checkpoint(tmp_path / "absent.ckpt")
