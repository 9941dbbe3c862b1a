"""Several tasks at a time, and what becomes of them when the user wants no more."""

import os
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.studies.reproduction.workers import run_all


def squared(number):
    if number < 0:
        raise ValueError("no such number")
    return number * number


def test_one_after_another():
    told = []
    assert run_all(squared, [3, 1, 2], 1, told.append) == told == [9, 1, 4]


def test_what_failed_is_told_when_the_rest_is_done(quick_workers):
    told = []
    with pytest.raises(PolymodalError, match=r"1 of 3 rows failed(.|\n)*-1: ValueError: no such"):
        run_all(squared, [2, -1, 3], 2, told.append)
    assert sorted(told) == [4, 9]


def write_late(path):
    if Path(path).stem != "0":
        time.sleep(20)
        Path(path).write_text("done")


def stop(made):
    raise KeyboardInterrupt


def test_an_interruption_ends_what_is_under_way(tmp_path, quick_workers):
    with pytest.raises(KeyboardInterrupt):
        run_all(write_late, [str(tmp_path / str(k)) for k in range(5)], 2, stop)
    for process in active_children():
        process.join()
    assert not list(tmp_path.iterdir())


def go_on(path):
    for _ in range(600):
        Path(path).write_text(str(time.monotonic()))
        time.sleep(0.1)


def test_nothing_is_under_way_once_the_command_is_killed(tmp_path):
    program = (
        "import sys; from polymodal.studies.reproduction.workers import run_all;"
        "from test_workers import go_on;"
        "run_all(go_on, sys.argv[1:], 2)"
    )
    files = [tmp_path / name for name in "ab"]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, files)], env={**os.environ, "PYTHONPATH": path}
    )
    until = time.monotonic() + 120
    while not all(file.exists() for file in files) and time.monotonic() < until:
        time.sleep(0.05)
    command.kill()
    command.wait()
    time.sleep(3)
    left = [file.read_text() for file in files]
    time.sleep(1)
    assert [file.read_text() for file in files] == left
