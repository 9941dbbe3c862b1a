"""One writer at a time, who is named, and whose lock ends with its process."""

import os
import signal
from pathlib import Path

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.base.locks import is_empty, updating, writing
from toys import python

HOLD = """
import sys, time
from pathlib import Path
from polymodal.base.locks import writing
with writing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_writer_learns_who_the_first_is_until_that_one_dies(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = python("-c", HOLD, str(folder))
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    told = rf"run is being written by process {process.pid} on .* since .* \(`.*run`\)\. Wait until"
    with pytest.raises(PolymodalError, match=told), writing(folder):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with writing(folder):
        assert is_empty(folder)


def test_who_waits_goes_on_when_the_other_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = python("-c", HOLD.replace("60", "0.3"), str(tmp_path))
    assert process.stdout is not None
    process.stdout.readline()
    with writing(tmp_path, wait=True):
        assert process.communicate()[0] == ""
    assert "Waiting for it to end" in capsys.readouterr().err


def test_a_lock_whose_note_is_not_written_yet_is_somebodys(tmp_path: Path) -> None:
    with writing(tmp_path):
        (tmp_path / ".lock").write_text("")  # as it is between taking the lock and writing the note
        with pytest.raises(PolymodalError, match="written by another process"), writing(tmp_path):
            pass


def test_only_the_first_of_several_processes_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(tmp_path):
        monkeypatch.setenv("LOCAL_RANK", "1")
        with writing(tmp_path):
            pass


def test_locks_and_parts_of_files_are_not_content(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "table.json"
    assert is_empty(file.parent)
    with writing(file.parent):
        (file.parent / ".a.part").touch()
        assert is_empty(file.parent)
    with updating(file):
        assert not is_empty(file.parent)
