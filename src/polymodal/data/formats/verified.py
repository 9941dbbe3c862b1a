"""Verdicts on image files: by header, or by decoding each once and remembering what was found."""

import json
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

from polymodal.base import files
from polymodal.base.progress import progress_bar
from polymodal.data import image_files
from polymodal.data.formats.archive import Source
from polymodal.data.formats.entry import Flaw

Verdict = tuple[str, str] | None
"""What is wrong with an image, as kind and reason; None for a good one."""


@dataclass(frozen=True)
class Verified:
    """Judges the images of a source, with several threads."""

    source: Source
    whole: bool
    """Decode each image instead of looking at its header; verdicts are then cached."""
    threads: int

    def judge(self, names: Sequence[str], progress: bool = True) -> Generator[Verdict, None, None]:
        """The verdict on each image in turn; close the generator to stop before the last."""
        if not self.whole:
            yield from self._judge(names, progress)
            return
        known = self._load()
        stamps = {name: self.source.stamp(name) for name in names}
        fresh = {name: known[name] for name in stamps if known.get(name, [""])[0] == stamps[name]}
        missing = [name for name in stamps if name not in fresh]
        if missing:
            files.check_cache(self._cache.parent)
        try:
            for name, verdict in zip(missing, self._judge(missing, progress), strict=True):
                fresh[name] = [stamps[name], *(verdict or ())]
        finally:  # what was decoded before an interruption need not be decoded again
            if missing:
                files.write_text(self._cache, json.dumps({**known, **fresh}))
        for name in names:
            _, *reason = fresh[name]
            yield (reason[0], reason[1]) if reason else None

    def _look(self, name: str) -> Verdict:
        try:
            with self.source.open(name) as file:
                length = self.source.size(name) or 0
                (image_files.verify if self.whole else image_files.check_header)(file, length)
        except image_files.BadPictureError as error:
            return error.kind, str(error)
        except BadZipFile as error:
            return "truncated image", f"the zip is damaged there ({error}). Copy it again."
        except OSError as error:
            return "missing image", f"could not be read ({error}). Check its permissions."
        return None

    def _judge(self, names: Sequence[str], progress: bool) -> Generator[Verdict, None, None]:
        with (
            ThreadPoolExecutor(self.threads) as pool,
            progress_bar(
                "Checking images", len(names), shown=progress and bool(names), transient=True
            ) as advance,
        ):
            try:
                for verdict in pool.map(self._look, names):
                    advance(1)
                    yield verdict
            finally:
                pool.shutdown(cancel_futures=True)

    @property
    def _cache(self) -> Path:
        place = files.fingerprint(str(self.source.path.resolve()))
        return files.cache_folder() / "verified" / f"{place}.json"

    def _load(self) -> dict[str, list[str]]:
        """Earlier verdicts; a cache that is absent or broken is as good as empty."""
        try:
            content = json.loads(self._cache.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        sound = isinstance(content, dict) and all(
            isinstance(row, list) and len(row) in (1, 3) and all(isinstance(x, str) for x in row)
            for row in content.values()
        )
        return content if sound else {}


def sizes_of(source: Source, names: Sequence[str]) -> list[tuple[int, int]]:
    """The width and height of sound images as they will be seen, by their headers."""

    def look(name: str) -> tuple[int, int]:
        try:
            with source.open(name) as file:
                return image_files.size_of(file, source.size(name) or 0)
        except image_files.BadPictureError as error:
            raise Flaw(error.kind, str(source.path / name), str(error)).error() from error

    with ThreadPoolExecutor(image_files.threads(len(names))) as pool:
        return list(pool.map(look, names))
