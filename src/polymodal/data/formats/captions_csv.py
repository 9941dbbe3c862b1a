"""captions.csv: a header and one caption a row; image, caption and, if wished, split, id.

A quote left open would make the rows after it part of a caption. So a caption of several lines is
read only if none of its lines names an image, and said to be there.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.progress import say_once
from polymodal.data.formats.archive import Source, find, read_text
from polymodal.data.formats.entry import Entry, Flaw

COLUMNS = ("image", "caption", "split", "id")

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What may stand between columns: the header says which."""

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm")
"""How the name of an image ends, whether it is there or not."""

LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
"""A line with its end, as csv.reader wants it."""


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry a row; rows of one image are gathered later, wherever they stand."""
    path = source.path / name
    lines = (line.group() for line in LINE.finditer(read_text(source, name)))
    header = next(lines, "")
    delimiter = max(DELIMITERS, key=header.count)
    columns = _header(header, delimiter, f"{path}:1")
    start, long = 2, []
    for taken, cells, broken in _rows(lines, delimiter):
        swallowed = [n for n, line in enumerate(taken[1:], start + 1) if line.strip()]
        why = (broken or _apart(source, cells, columns, delimiter)) if swallowed else None
        if why is not None:
            yield from _open_quote(path, start, swallowed, why)
        elif broken is not None:
            large = len(taken[0]) > csv.field_size_limit()
            remedy = "Shorten the caption." if large else "Mend the quotes."
            yield Flaw("malformed line", f"{path}:{start}", f"{broken}. {remedy}")
        elif cells:
            long += [start] * bool(swallowed)
            yield _entry(cells, columns, delimiter, f"{path}:{start}")
        start += len(taken)
    if long:
        what = "1 caption has" if len(long) == 1 else f"{len(long)} captions have"
        say_once(
            f"{path}: {what} several lines, first the one in line {long[0]}. If that is not meant, close "
            "the quote that opens there."
        )


def _header(line: str, delimiter: str, where: str) -> list[str]:
    if "\0" in line:
        raise PolymodalError(
            f"{where}: there is a NUL byte in the header. Is the file UTF-16 without a byte-order "
            "mark? Save it as UTF-8."
        )
    try:
        row = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise PolymodalError(f"{where}: broken CSV ({error}) in the header. Mend it.") from error
    columns = [column.strip().lower() for column in row]
    for column in columns:
        if column not in COLUMNS:
            short = column if len(column) <= 40 else f"{column[:40]}…"
            what = unknown("column", short, COLUMNS)
            raise PolymodalError(f"{where}: {what} Rename the column, or take it out.")
    for needed in ("image", "caption"):
        if columns.count(needed) != 1:
            raise PolymodalError(
                f"{where}: expected a header image,caption (and split, id if wished), "
                f"found: {','.join(row) or 'an empty line'}. Write such a first line."
            )
    if len(set(columns)) != len(columns):
        raise PolymodalError(f"{where}: a column stands twice: {','.join(row)}. Remove one.")
    return columns


def _rows(
    lines: Iterator[str], delimiter: str
) -> Iterator[tuple[list[str], list[str], str | None]]:
    """The lines that each row takes, its cells, and why it has none if it is broken."""
    taken: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    rows = csv.reader(noted(), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        try:
            yield taken, next(rows), None
        except StopIteration:
            return
        except csv.Error as error:
            yield taken, [], f"broken CSV ({error})"


def _apart(source: Source, cells: list[str], columns: list[str], delimiter: str) -> str | None:
    """Why the lines of a row should be rows of their own, if they should."""
    for cell in cells:
        parts = re.split(rf"[\r\n{delimiter}]", cell) if "\n" in cell or "\r" in cell else ()
        for part in parts:
            image = part.strip(' "\t')
            if image.lower().endswith(ENDINGS) or find(source, image, f"images/{image}"):
                return f"one names the image {image!r}"
    if len(cells) != len(columns):
        return f"together they have {len(cells)} columns, not {len(columns)}"
    return None


def _open_quote(path: Path, start: int, swallowed: list[int], why: str) -> Iterator[Flaw]:
    """A flaw for the row in which a quote opens, and one for each line after it."""
    count = f"{len(swallowed)} line{'s' if len(swallowed) > 1 else ''}"
    yield Flaw(
        "open quote",
        f"{path}:{start}",
        f"a quote that opens in this row swallows {count} after it, to line {swallowed[-1]}: {why}. "
        "Close the quote, or double it where it belongs to the caption; write a caption that names "
        "images on one line.",
    )
    for number in swallowed:
        reason = f"the quote of line {start} swallows this line. Mend that quote."
        yield Flaw("swallowed line", f"{path}:{number}", reason)


def _entry(cells: list[str], columns: list[str], delimiter: str, where: str) -> Entry | Flaw:
    """What a row says, or what is wrong with it."""
    if any("\0" in cell for cell in cells):
        return Flaw("malformed line", where, "there is a NUL byte in this row. Remove it.")
    if len(cells) != len(columns):
        return Flaw(
            "malformed line",
            where,
            f"expected {len(columns)} columns ({', '.join(columns)}), found {len(cells)}. "
            f"Put a caption that holds {DELIMITERS[delimiter]} in double quotes.",
        )
    cell = dict(zip(columns, cells, strict=True))
    return Entry(
        image=cell["image"].strip(),
        captions=(cell["caption"],),
        where=where,
        id=cell.get("id", "").strip() or None,
        split=cell.get("split", "").strip() or None,
        whole=False,
    )
