"""Files that are whole or absent: written beside their place, synced, renamed; and hashed."""

import contextlib
import errno
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[io.BufferedRandom]:
    """Open a file for writing that takes the place of `path` only once it is whole.

    A crash, a kill or a full disk leaves whatever was at `path` before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
        sync_folder(path.parent)
    except Exception as error:
        if disk_is_full(error):
            raise PolymodalError(
                f"The disk is full: {path} could not be written. What was there before is untouched; "
                "free some space and give the same command again."
            ) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Delete what `atomic` could not when it was killed, in a folder that nobody else writes into."""
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)


def disk_is_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it arose from, says that there is no space left."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def sync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_folder(folder: Path) -> None:
    """Say before long work that nothing could be written into a folder afterwards."""
    why = obstacle(folder)
    if why:
        raise PolymodalError(f"{folder} cannot be written: {why}. Name another folder.")


def obstacle(folder: Path) -> str | None:
    """What keeps a folder, or one above it, from being written to."""
    above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not above.is_dir():
        return f"{above} is a file"
    return None if os.access(above, os.W_OK) else f"{above} may not be written to"


def check_file(path: Path) -> None:
    """Say before long work that a file could not be written afterwards."""
    if path.is_dir():
        raise PolymodalError(
            f"{path} is a folder, but a file is to be written. Name a file in it, or another."
        )
    check_folder(path.parent)


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""
    with atomic(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; halves of characters, as of file names that are no UTF-8, are written
    as JSON does."""
    write_bytes(path, text.encode(errors="backslashreplace"))


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """JSON for people: indented, with signs of every script as they are."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, read by blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(value: Any) -> str:
    """A short hash of a JSON-able value, the same on every machine.

    >>> fingerprint({"b": 1, "a": 2}) == fingerprint({"a": 2, "b": 1})
    True
    """
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode(errors="backslashreplace")).hexdigest()[:16]


def cache_folder() -> Path:
    """Where drawn worlds and features are kept: $POLYMODAL_CACHE, or the user's cache."""
    chosen = os.environ.get("POLYMODAL_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "polymodal"
    except RuntimeError as error:
        raise PolymodalError(
            "There is no home directory to keep drawn worlds in. Set the environment variable "
            "POLYMODAL_CACHE to a folder for them."
        ) from error


def check_cache(folder: Path) -> None:
    """Say before long work that its results could not be kept in this folder of the cache."""
    why = obstacle(folder)
    if why:
        raise PolymodalError(
            f"Drawn worlds, checked images and negative captions are kept in the cache, {cache_folder()}, "
            f"but {why}. "
            "Set the environment variable POLYMODAL_CACHE to a folder that can be written."
        )
