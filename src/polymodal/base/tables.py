"""Tables for the terminal and for pages, from the same cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polymodal.base.printing import printable, terminal


@dataclass(frozen=True, kw_only=True)
class Table:
    """A header and rows of text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table for a page.

        >>> print(Table(header=["a", "b"], rows=[["1", "2"]]).markdown())
        | a | b |
        |---|---|
        | 1 | 2 |
        """
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        shown = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([shown[0], shown[1].replace(" ", ""), *shown[2:]])

    def turned(self) -> "Table":
        """Rows as columns.

        >>> Table(header=["a", "b"], rows=[["1", "2"]]).turned()
        Table(header=('a', '1'), rows=[('b', '2')])
        """
        first, *rest = zip(self.header, *self.rows, strict=True)
        return Table(header=first, rows=rest)

    def printable(self) -> "Table":
        """The same cells, harmless to a terminal."""
        header, *rows = ([*map(printable, line)] for line in (self.header, *self.rows))
        return Table(header=header, rows=rows)

    def width(self) -> int:
        """How many characters the table takes with every cell on one line."""
        columns = zip(self.header, *self.rows, strict=True)
        return 1 + sum(3 + max(map(len, column)) for column in columns)

    def print(self, title: str = "", turn: bool = True) -> None:
        """The table for a terminal, turned where that makes a wide one fit; figures are never broken,
        and what is no terminal is as wide as it must be."""
        from rich.table import Table as RichTable

        console = terminal()
        shown = self.printable()
        if turn and shown.width() > console.width >= shown.turned().width():
            shown = shown.turned()
        if not console.is_terminal:
            console = terminal(width=max(console.width, shown.width()))
        table = RichTable(title=printable(title) or None, title_justify="left")
        for place, name in enumerate(shown.header):
            words = any(" " in row[place] for row in shown.rows) and not is_figure(shown, place)
            table.add_column(
                name,
                justify="left" if place == 0 or words else "right",
                overflow="fold",
                no_wrap=place > 0 and not words,
            )
        for row in shown.rows:
            table.add_row(*row)
        console.print(table)


def is_figure(table: Table, place: int) -> bool:
    """Whether a column has nothing but figures, with their spread, and dashes."""
    return all(set(row[place]) <= set("0123456789.,-+−–±%× e") for row in table.rows)


def scores_table(scores: Mapping[str, Mapping[str, float]]) -> Table:
    """Metrics down, splits across."""
    names = dict.fromkeys(name for metrics in scores.values() for name in metrics)
    rows = [
        [name, *(f"{metrics[name]:.2f}" if name in metrics else "–" for metrics in scores.values())]
        for name in names
    ]
    return Table(header=["metric", *scores], rows=rows)
