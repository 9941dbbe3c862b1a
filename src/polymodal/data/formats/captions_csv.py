"""captions.csv: a header and one caption a row; image, caption and, if wished, split, id."""

import csv
from collections.abc import Iterator
from io import StringIO

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entry import Entry, Flaw

COLUMNS = ("image", "caption", "split", "id")


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry a row; rows of one image are gathered later, wherever they stand."""
    path = source.path / name
    rows = csv.reader(StringIO(read_text(source, name), newline=""), strict=True)
    columns = _header(next(rows, []), f"{path}:1")
    while True:
        where = f"{path}:{rows.line_num + 1}"  # where the row starts: a quoted one may span lines
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Flaw("malformed line", where, f"broken CSV ({error}). Mend the quotes.")
            continue
        if not row:
            continue
        if len(row) != len(columns):
            yield Flaw(
                "malformed line",
                where,
                f"expected {len(columns)} columns ({', '.join(columns)}), found {len(row)}. "
                "Put a caption that holds commas in double quotes.",
            )
            continue
        cell = dict(zip(columns, row, strict=True))
        yield Entry(
            image=cell["image"].strip(),
            captions=(cell["caption"],),
            where=where,
            id=cell.get("id", "").strip() or None,
            split=cell.get("split", "").strip() or None,
            whole=False,
        )


def _header(row: list[str], where: str) -> list[str]:
    columns = [column.strip().lower() for column in row]
    for column in columns:
        if column not in COLUMNS:
            error = unknown("column", column, COLUMNS)
            raise PolymodalError(f"{where}: {error} Rename the column, or take it out.")
    for needed in ("image", "caption"):
        if columns.count(needed) != 1:
            raise PolymodalError(
                f"{where}: expected a header image,caption (and split, id if wished), "
                f"found: {','.join(row) or 'an empty file'}. Write such a first line."
            )
    if len(set(columns)) != len(columns):
        raise PolymodalError(f"{where}: a column stands twice: {','.join(row)}. Remove one.")
    return columns
