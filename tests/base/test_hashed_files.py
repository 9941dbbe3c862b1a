"""Files of a run that are known by their hashes: none is taken for another, and no kill bricks a run."""

import json
import shutil

import pytest
import torch
from torch import nn

import polymodal
from polymodal.base import files, hashed_files
from polymodal.base.errors import PolymodalError
from polymodal.base.hashed_files import HASHES, check_hash, write_hashed
from polymodal.runs.run_folder import Run
from toys import flat, train_squares


@pytest.fixture(scope="module")
def runs(squares, tmp_path_factory):
    """Two runs that differ by their seed alone."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        train_squares(squares, folder / str(seed), seed=seed)
    return folder


@pytest.mark.parametrize("name", ["model.safetensors", "learned.json"])
def test_a_file_of_another_run_is_refused(runs, tmp_path, name):
    shutil.copytree(runs / "0", tmp_path / "a")
    polymodal.load(tmp_path / "a")
    content = (runs / "1" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(content + b" " * (name == "learned.json"))
    with pytest.raises(
        PolymodalError, match=rf"{name} is damaged, or not of this run: its SHA-256"
    ):
        polymodal.load(tmp_path / "a")


def test_a_run_of_an_earlier_version_is_loaded_and_said_to_have_no_hashes(runs, tmp_path, capsys):
    shutil.copytree(runs / "0", tmp_path / "a")
    polymodal.load(tmp_path / "a")
    assert capsys.readouterr().err == ""
    (tmp_path / "a" / HASHES).unlink()
    for _ in range(2):
        polymodal.load(tmp_path / "a")
    assert flat(capsys.readouterr().err).count("has no hashes of its files") == 1


def test_a_run_of_an_earlier_version_gets_hashes_when_it_goes_on(squares, tmp_path):
    whole = train_squares(squares, tmp_path, max_steps=4, checkpoint_every=2, val_every=1)
    for name in ("metrics.json", "checkpoints/step-00000004.ckpt", HASHES):
        (tmp_path / name).unlink()
    train_squares(squares, tmp_path, max_steps=4, checkpoint_every=2, val_every=1)
    assert Run(tmp_path).metrics["scores"] == whole["scores"]
    assert "learned.json" in json.loads((tmp_path / HASHES).read_text())["sha256"]


@pytest.mark.parametrize("function", ["write_json", "write_bytes"])
def test_a_kill_between_the_two_writes_leaves_what_was_there(tmp_path, monkeypatch, function):
    path = tmp_path / "a"
    write_hashed(path, b"first")
    for content in (b"second", b"third", b"fourth"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(hashed_files, function, killed)
            write_hashed(path, content)
        assert path.read_bytes() == b"first"
        check_hash(path)
    assert len(hashed_files.hashes_of(tmp_path)["a"]) <= 2
    write_hashed(path, b"fifth")
    check_hash(path)
    path.write_bytes(b"third")
    with pytest.raises(PolymodalError, match="is damaged, or not of this run"):
        check_hash(path)


def killed(*_):
    raise KeyboardInterrupt


def test_a_kill_at_the_first_hash_of_an_earlier_versions_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(hashed_files, "write_bytes", killed)
        write_hashed(path, b"new")
    assert path.read_bytes() == b"old"
    check_hash(path)


def test_who_reads_while_a_training_writes_is_not_refused(tmp_path, monkeypatch):
    """The hash is looked up after the content is read, and that of the file before is kept."""
    path, sha256 = tmp_path / "a", hashed_files.sha256
    write_hashed(path, b"before")
    written = []

    def late(asked):
        found = sha256(asked)
        if not written:
            written.append(1)
            write_hashed(path, b"after")
        return found

    monkeypatch.setattr(hashed_files, "sha256", late)
    check_hash(path)
    assert path.read_bytes() == b"after"


def test_a_foreign_file_is_not_vouched_for_by_the_next_write(tmp_path):
    path = tmp_path / "a"
    write_hashed(path, b"own")
    path.write_bytes(b"foreign")
    write_hashed(path, b"next")
    path.write_bytes(b"foreign")
    with pytest.raises(PolymodalError, match="not of this run"):
        check_hash(path)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"sha256": 3}', '{"sha256": {"a": "b"}}'])
def test_hashes_that_cannot_be_read(tmp_path, content):
    write_hashed(tmp_path / "a", b"first")
    (tmp_path / HASHES).write_text(content)
    with pytest.raises(PolymodalError, match=r"hashes\.json is damaged.* Copy it again"):
        check_hash(tmp_path / "a")


def test_keeping_weights_many_times_keeps_one_hash_and_the_one_before(tmp_path):
    run, system = Run(tmp_path), nn.Linear(2, 2)
    for step in range(4):
        nn.init.constant_(system.weight, step)
        run.keep(system)
    known = hashed_files.hashes_of(tmp_path)["model.safetensors"]
    assert known[0] == files.sha256(tmp_path / "model.safetensors")
    assert len(known) == 2
    assert torch.equal(run.weights()["weight"], system.weight)
