"""What a reader gives of a zero-shot dataset: every image in order, and what is known of it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entry import Entry
from polymodal.data.formats.two_columns import Cell


@dataclass(frozen=True, kw_only=True)
class Listing:
    """All images of a dataset, in the order in which the locations of its splits count."""

    entries: tuple[Entry, ...]
    labels: Int64[np.ndarray, " n"]
    classes: tuple[str, ...]
    attributes: Float32[np.ndarray, "c a"]
    attribute_names: tuple[str, ...] = ()
    places: Float32[np.ndarray, "n p 3"] | None = None
    """Each part's x and y in pixels of the image's file, and 1 where it can be seen."""
    part_names: tuple[str, ...] = ()


def read_numbered(source: Source, name: str, count: int | None = None) -> list[Cell]:
    """What stands after 1, 2, 3, … in the lines of a file, of which none may be missing.

    Args:
        source: where the file is.
        name: the file.
        count: how many lines there should be; any number by default.
    """
    rows: list[Cell] = []
    for number, line in enumerate(read_text(source, name).split("\n"), start=1):
        cells, where = line.strip().split(maxsplit=1), f"{source.path / name}:{number}"
        if not cells:
            continue
        if len(cells) != 2 or cells[0] != str(len(rows) + 1):
            raise PolymodalError(
                f"{where}: expected the number {len(rows) + 1} and what goes with it, "
                f"found {line.strip()!r}. Copy the file again."
            )
        rows.append(Cell(cells[1], where))
    if not rows or count not in (None, len(rows)):
        expected = "some lines" if count is None else f"{count} lines"
        raise PolymodalError(
            f"{source.path / name}: expected {expected}, found {len(rows)}. Copy the file again."
        )
    return rows
