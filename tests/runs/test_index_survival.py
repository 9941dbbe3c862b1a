"""`polymodal index` killed with SIGKILL while it writes, with real processes: the same command goes on."""

import os
import signal
import time
from pathlib import Path

import pytest

from toys import flat, python, train_squares, write_squares

COMMAND = """
import contextlib, sys, time
from pathlib import Path
from polymodal.base import files
from polymodal.cli import main
from polymodal.search import tensors
from polymodal.search.dataset_records import Records

stop, stopped, *command = sys.argv[1:]
tensors.ROWS = 5  # items of a part
atomic = files.atomic

@contextlib.contextmanager
def stopping(path):
    with atomic(path) as file:
        if path.name == stop:
            file.write(b"half of it")
            file.flush()
            Path(stopped).touch()
            time.sleep(240)
        yield file

def noting(self, system, places):
    print("embedding", places)
    return embed(self, system, places)

embed, Records.embed = Records.embed, noting
files.atomic = stopping
raise SystemExit(main(command))
"""
"""The command line, which stops in the middle of writing one file if it is named."""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    squares = write_squares(folder / "squares", train=8, val=24, test=16)
    train_squares(squares, folder / "a")
    return folder / "a"


def index(run: Path, out: Path, stop: str = "", stopped: str = ""):
    command = ["index", str(run), "--out", str(out), "--kind", "flat"]
    return python("-c", COMMAND, stop, stopped, *command)


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory) -> dict[str, bytes]:
    """What an indexing that was not killed leaves."""
    pytest.importorskip("faiss")
    out = tmp_path_factory.mktemp("index") / "whole"
    printed, _ = index(run, out).communicate()
    assert "16 images are in" in flat(printed)
    return content(out)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("stop", "parts"),
    [
        ("000000010.safetensors", 2),
        ("embeddings.safetensors", 4),
        ("lift-0.faiss", 4),
        ("index.json", 4),
    ],
)
def test_an_indexing_that_was_killed_leaves_the_same_index(run, whole, tmp_path, stop, parts):
    out, stopped = tmp_path / "index", tmp_path / "stopped"
    process = index(run, out, stop, str(stopped))
    limit = time.monotonic() + 240
    while time.monotonic() < limit and process.poll() is None and not stopped.exists():
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert len(list(out.glob("parts-*/0*.safetensors"))) == parts
    assert not (out / "index.json").exists()
    printed, _ = (again := index(run, out)).communicate()
    assert again.returncode == 0, printed
    assert printed.count("embedding range") == 4 - parts
    assert content(out) == whole
