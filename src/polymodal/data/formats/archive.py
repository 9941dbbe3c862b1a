"""Where files are read from: a folder, or a zip of one, read in place; names have / in them."""

import fnmatch
import json
import os
import zipfile
import zlib
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from polymodal.base.errors import PolymodalError


@runtime_checkable
class Source(Protocol):
    """A tree of files that many threads and processes may read at once."""

    path: Path

    def glob(self, pattern: str) -> list[str]:
        """The files whose names match, sorted; a star stays within its folder."""

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None where there is no such file."""

    def stamp(self, name: str) -> str:
        """What changes when the file changes."""

    def open(self, name: str) -> BufferedIOBase:
        """The file's bytes, from the start."""


class Directory:
    """Files of a folder on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def glob(self, pattern: str) -> list[str]:
        """The files whose names match, sorted."""
        found = (p for p in self.path.glob(pattern) if p.is_file())
        return sorted(p.relative_to(self.path).as_posix() for p in found)

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None where there is no such file."""
        path = self.path / name
        try:
            return path.stat().st_size if path.is_file() else None
        except (OSError, ValueError):  # a name too long for the disk, or with a NUL in it
            return None

    def stamp(self, name: str) -> str:
        """Size and time of change."""
        stat = (self.path / name).stat()
        return f"{stat.st_size}-{stat.st_mtime_ns}"

    def open(self, name: str) -> BufferedIOBase:
        """The file's bytes, from the start."""
        return (self.path / name).open("rb")


class Archive:
    """Files of a zip, read without unpacking; one folder around them all is looked through."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: tuple[int, zipfile.ZipFile] | None = None
        try:
            members = {info.filename: info for info in self._zip().infolist() if not info.is_dir()}
        except (zipfile.BadZipFile, OSError) as error:
            raise PolymodalError(
                f"{path}: this is not a whole zip file ({error}). Copy or download it again."
            ) from error
        if any(info.flag_bits & 1 for info in members.values()):
            raise PolymodalError(f"{path}: the zip is encrypted. Unpack it and give the folder.")
        members = {name: i for name, i in members.items() if not name.startswith("__MACOSX/")}
        tops = {name.partition("/")[0] for name in members if "/" in name}
        flat = [name for name in members if "/" not in name]
        self._prefix = f"{tops.pop()}/" if len(tops) == 1 and not flat else ""
        self._members = {name.removeprefix(self._prefix): info for name, info in members.items()}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_handle": None}

    def _zip(self) -> zipfile.ZipFile:
        """A handle of this process: threads may share one, forked processes may not."""
        if self._handle is None or self._handle[0] != os.getpid():
            self._handle = os.getpid(), zipfile.ZipFile(self.path)
        return self._handle[1]

    def glob(self, pattern: str) -> list[str]:
        """The files whose names match, sorted."""
        deep = pattern.count("/")
        return sorted(
            name
            for name in self._members
            if name.count("/") == deep and fnmatch.fnmatchcase(name, pattern)
        )

    def size(self, name: str) -> int | None:
        """Unpacked bytes of a file, or None where there is no such file."""
        info = self._members.get(name)
        return None if info is None else info.file_size

    def stamp(self, name: str) -> str:
        """Size and checksum."""
        info = self._members[name]
        return f"{info.file_size}-{info.CRC:08x}"

    def open(self, name: str) -> BufferedIOBase:
        """The file's bytes, from the start."""
        return cast(BufferedIOBase, self._zip().open(self._members[name]))


def open_source(path: Path) -> Source:
    """Open a folder or a zip."""
    if path.is_dir():
        return Directory(path)
    if path.is_file() and path.suffix.lower() == ".zip":
        return Archive(path)
    if path.exists():
        raise PolymodalError(
            f"{path}: expected a folder or a .zip of one, found a file. Give its folder."
        )
    raise PolymodalError(
        f"{path}: there is no such folder. Give a folder, or a .zip, of images and captions."
    )


def find(source: Source, *names: str) -> str | None:
    """The first of some names that is a file's."""
    return next((name for name in names if source.size(name) is not None), None)


def read_text(source: Source, name: str) -> str:
    """Read a UTF-8 text file, with or without a byte-order mark."""
    try:
        with source.open(name) as file:
            content = file.read()
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise PolymodalError(
            f"{source.path / name}: could not be read ({error}). Copy the data again."
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolymodalError(
            f"{source.path / name}:{line}: not UTF-8: the byte {content[error.start]:#04x}. "
            f"Save the file as UTF-8, for example: iconv -f latin1 -t utf-8 {Path(name).name}."
        ) from error


def read_json(source: Source, name: str, *lists: str) -> dict[str, Any]:
    """Read a JSON file that is one object with the named lists in it."""
    where = source.path / name
    try:
        value = json.loads(read_text(source, name))
    except json.JSONDecodeError as error:
        raise PolymodalError(
            f"{where}:{error.lineno}: broken JSON at column {error.colno} ({error.msg}). "
            "Is the file whole? Copy or write it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PolymodalError(f"{where}: broken JSON ({error}). Write the file again.") from error
    for key in lists:
        if not isinstance(value, dict) or not isinstance(value.get(key), list):
            found = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise PolymodalError(
                f"{where}: expected an object with a list {key!r}, found: {found or 'nothing'}. "
                "Is it a caption file of another format? Rename it if so."
            )
    result: dict[str, Any] = value
    return result
