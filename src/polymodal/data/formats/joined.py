"""Several folders or zips read as one: pictures that come in more than one archive."""

import os
from collections.abc import Sequence
from io import BufferedIOBase
from pathlib import Path

from polymodal.data.formats.archive import Source, open_source


class Joined:
    """Files of several sources; each file's name begins with its source, seen from `path`."""

    def __init__(self, sources: Sequence[Source]) -> None:
        places = [source.path.absolute() for source in sources]
        self.path = Path(os.path.commonpath([place.parent for place in places]))
        self._sources = {
            place.relative_to(self.path).as_posix(): source
            for place, source in zip(places, sources, strict=True)
        }

    def _inner(self, name: str) -> tuple[Source, str] | None:
        """The source of a file, and its name there."""
        homes = [home for home in self._sources if name.startswith(f"{home}/")]
        home = max(homes, key=len, default=None)
        return None if home is None else (self._sources[home], name.removeprefix(f"{home}/"))

    def _found(self, name: str) -> tuple[Source, str]:
        inner = self._inner(name)
        if inner is None:
            raise FileNotFoundError(f"{name} is in none of {', '.join(self._sources)}")
        return inner

    def glob(self, pattern: str) -> list[str]:
        """The files of each source whose names match there, sorted."""
        return sorted(f"{home}/{n}" for home, s in self._sources.items() for n in s.glob(pattern))

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None where there is no such file."""
        inner = self._inner(name)
        return None if inner is None else inner[0].size(inner[1])

    def stamp(self, name: str) -> str:
        """What changes when the file changes."""
        source, inner = self._found(name)
        return source.stamp(inner)

    def open(self, name: str) -> BufferedIOBase:
        """The file's bytes, from the start."""
        source, inner = self._found(name)
        return source.open(inner)


def open_joined(paths: str) -> Source:
    """Open a folder or zip, or several with + between them.

    >>> open_joined("nowhere")
    Traceback (most recent call last):
    polymodal.base.errors.PolymodalError: nowhere: there is no such folder. ...
    """
    several = [paths] if Path(paths).exists() else paths.split("+")
    sources = [open_source(Path(path)) for path in several]
    return sources[0] if len(sources) == 1 else Joined(sources)
