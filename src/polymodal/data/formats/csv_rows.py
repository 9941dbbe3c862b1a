"""Rows of a CSV with a header, each with its line."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, read_text


@dataclass(frozen=True)
class Rows:
    """The columns of a CSV, and its rows."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, dict[str, str]], ...]
    """Where each row ends, and its cells by their columns; of a row of another length, none."""

    def __iter__(self) -> Iterator[tuple[str, dict[str, str]]]:
        return iter(self.rows)


def read_rows(source: Source, name: str, *needed: str) -> Rows:
    """A CSV, or an error if it lacks a column that is needed.

    Args:
        source: where the file is.
        name: the file.
        needed: columns that it must have.
    """
    path = source.path / name
    lines = csv.reader(io.StringIO(read_text(source, name), newline=""), strict=True)
    try:
        names = tuple(next(lines, ()))
        found = [(f"{path}:{lines.line_num}", cells) for cells in lines if cells]
    except csv.Error as error:
        raise PolymodalError(
            f"{path}:{lines.line_num}: this is no sound CSV ({error}). Is a quote left open? Mend it."
        ) from error
    if not set(needed) <= set(names):
        told = ",".join(names) or "nothing"
        raise PolymodalError(f"{path}: expected the columns {','.join(needed)}, found: {told}.")
    return Rows(
        names,
        tuple(
            (where, dict(zip(names, cells, strict=True)) if len(cells) == len(names) else {})
            for where, cells in found
        ),
    )
