"""Where files are read from: a folder, or a zip of one, read in place; names have / in them."""

import codecs
import fnmatch
import json
import os
import zipfile
import zlib
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from polymodal.base.errors import PolymodalError

LARGEST_FILE = 2**30
"""Bytes of the largest file of texts or variables that is read; a zip may unpack to far more."""

MARKS = {
    codecs.BOM_UTF8: "UTF-8-sig",
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""The encoding that the first bytes of a text file tell; UTF-8 without them."""


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
        paths = (p for p in self.path.glob(pattern) if p.is_file())
        return sorted(p.relative_to(self.path).as_posix() for p in paths)

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
        try:
            return cast(BufferedIOBase, self._zip().open(self._members[name]))
        except NotImplementedError as error:
            raise PolymodalError(
                f"{self.path / name}: packed in a way that cannot be read here ({error}). "
                "Unpack the zip and give the folder."
            ) from error


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


def length_of(source: Source, name: str) -> int:
    """Bytes of a file, or an error if they are too many to read at once."""
    length = source.size(name) or 0
    if length > LARGEST_FILE:
        raise PolymodalError(
            f"{source.path / name}: the file has {length:,} bytes unpacked, but at most "
            f"{LARGEST_FILE:,} are read. Is it the right file? Divide the data into several folders "
            "if so."
        )
    return length


def read_text(source: Source, name: str) -> str:
    """Read a text file: UTF-8, or what its byte-order mark tells."""
    length = length_of(source, name)
    try:
        with source.open(name) as file:
            content = file.read(length)
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise PolymodalError(
            f"{source.path / name}: could not be read ({error}). Copy the data again."
        ) from error
    encoding = next(
        (described for mark, described in MARKS.items() if content.startswith(mark)), "UTF-8"
    )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].decode(encoding, "ignore").count("\n") + 1
        described, remedy = encoding.removesuffix("-sig"), "Save the file as UTF-8"
        if described != "UTF-8":
            described += ", though its first bytes say so"
        elif b"\0" in content:
            remedy = f"Is it UTF-16 without a byte-order mark? {remedy}"
        else:
            remedy += f", for example: iconv -f latin1 -t utf-8 {Path(name).name}"
        raise PolymodalError(
            f"{source.path / name}:{line}: not {described}: the byte {error.object[error.start]:#04x}. "
            f"{remedy}."
        ) from error


def read_parsed(source: Source, name: str) -> Any:
    """Read a JSON file, whatever is in it."""
    where = source.path / name
    try:
        return json.loads(read_text(source, name))
    except json.JSONDecodeError as error:
        raise PolymodalError(
            f"{where}:{error.lineno}: broken JSON at column {error.colno} ({error.msg}). "
            "Is the file whole? Copy or write it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PolymodalError(f"{where}: broken JSON ({error}). Write the file again.") from error


def read_json(source: Source, name: str, *lists: str) -> dict[str, Any]:
    """Read a JSON file that is one object with the named lists in it."""
    where, value = source.path / name, read_parsed(source, name)
    for key in lists:
        if not isinstance(value, dict) or not isinstance(value.get(key), list):
            shown = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise PolymodalError(
                f"{where}: expected an object with a list {key!r}, found: {shown or 'nothing'}. "
                "Is it a caption file of another format? Rename it if so."
            )
    result: dict[str, Any] = value
    return result
