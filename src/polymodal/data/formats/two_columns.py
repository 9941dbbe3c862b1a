"""Text files of two columns, a name and what goes with it, as CelebA and CUB have them."""

from collections.abc import Collection
from typing import NamedTuple

from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entry import Flaw


class Cell(NamedTuple):
    """What goes with a name, and the file and line that say so."""

    value: str
    where: str


def read_table(
    source: Source, name: str, values: Collection[str] = ()
) -> tuple[dict[str, Cell], list[Flaw]]:
    """The second column of a file by its first, and a flaw for every line that is no such row.

    Args:
        source: where the file is.
        name: the file.
        values: what the second column may hold; anything by default.
    """
    table: dict[str, Cell] = {}
    flaws: list[Flaw] = []
    for number, line in enumerate(read_text(source, name).split("\n"), start=1):
        cells, where = line.split(), f"{source.path / name}:{number}"
        if not cells:
            continue
        if len(cells) != 2:
            reason = f"expected 2 columns, found {len(cells)}. Mend the line."
            flaws.append(Flaw("malformed line", where, reason))
        elif values and cells[1] not in values:
            reason = f"expected {' or '.join(values)} after {cells[0]!r}, found {cells[1]!r}."
            flaws.append(Flaw("malformed line", where, f"{reason} Mend the line."))
        elif cells[0] in table:
            reason = f"{cells[0]!r} stands already at {table[cells[0]].where}. Keep one of the two."
            flaws.append(Flaw("duplicate id", where, reason))
        else:
            table[cells[0]] = Cell(cells[1], where)
    return table, flaws
