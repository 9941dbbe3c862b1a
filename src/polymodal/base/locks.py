"""One writer at a time: who writes a folder or a file holds a lock, which the system releases when it dies.

A lock file that a kill left behind means nothing: nobody holds it.
"""

import contextlib
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say

LOCK = ".lock"
"""The lock file of a folder. That of a file lies beside it, as .NAME.lock."""


@contextlib.contextmanager
def writing(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Keep other processes from writing into a folder, which is made where it is missing.

    Args:
        folder: what is written.
        wait: wait for another process that writes it, where it leaves what this one wants too;
            otherwise that process is named in an error.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / LOCK, folder, wait):
        yield


@contextlib.contextmanager
def updating(file: Path) -> Iterator[None]:
    """Wait for whoever reads a file to write it anew, and do the same."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    with held(file.parent / f".{file.name}{LOCK}", file, wait=True):
        yield


def is_empty(folder: Path) -> bool:
    """Whether a folder is missing, or has nothing but what locks and kills leave behind."""
    return not folder.exists() or all(
        entry.name == LOCK or entry.suffix == ".part" for entry in folder.iterdir()
    )


@contextlib.contextmanager
def held(path: Path, place: Path, wait: bool) -> Iterator[None]:
    """Hold a lock file, with a note in it of who does."""
    if os.environ.get("LOCAL_RANK", "0") != "0":  # the first of several processes holds it for all
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not wait:
            raise PolymodalError(
                f"{place} is being written by {holder(path)}. Wait until it ends, or name another place."
            ) from None
        say(f"{place} is being written by {holder(path)}. Waiting for it to end.")
        lock.acquire()
    try:
        path.write_text(json.dumps(note()), "utf-8")
        yield
    finally:
        if os.name == "posix":  # elsewhere an open file cannot be deleted
            path.unlink(missing_ok=True)
        lock.release()


def note() -> dict[str, str | int]:
    """Who this process is."""
    return {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def holder(path: Path) -> str:
    """Who holds a lock, by the note in its file; it may not be written yet."""
    try:
        who = json.loads(path.read_text("utf-8"))
        return (
            f"process {who['process']} on {who['host']} since {who['since']} (`{who['command']}`)"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
