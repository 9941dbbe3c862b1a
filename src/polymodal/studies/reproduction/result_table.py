"""The result file of a study while its rows are trained and measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from polymodal.base.locks import updating
from polymodal.runs import jobs
from polymodal.studies.reproduction.joining import common, joined, with_other_studies
from polymodal.studies.reproduction.row_measuring import MeasuredRow
from polymodal.studies.result_files import Results, read_results, write
from polymodal.studies.study import SMALL, Study


@dataclass(kw_only=True)
class ResultTable:
    """The rows measured so far, and those of an earlier result file that they join."""

    name: str
    study: Study
    path: Path
    order: Sequence[str]
    """The labels of all rows of the table, in order."""
    partial: bool
    """Whether only some rows are run: then the file is written after each, so that a command that is
    killed leaves the rows that it has."""
    earlier: Results | None = None
    """The result file as it was before."""
    rows: list[MeasuredRow] = field(default_factory=list)

    def add(self, row: MeasuredRow) -> None:
        """Add a row."""
        self.rows.append(row)
        if self.partial:
            with updating(self.path):
                write(self.path, self.results())

    def results(self) -> Results:
        """The table with these rows, without its conclusion."""
        others = self.others()
        results = collect(self.name, self.rows) if self.rows or not others else others
        if others and self.rows:
            results = joined(others, results, self.order)
        sources = self.study.measuring.from_studies
        return with_paper(with_other_studies(results, sources, self.path.parent), self.study)

    def others(self) -> Results | None:
        """The rows of the result file that are kept: all if only some rows are run, otherwise those that
        another command has written meanwhile."""
        if not self.path.exists():
            return None
        there = read_results(self.path)
        if self.partial:
            return there
        before = self.earlier.rows if self.earlier else []
        rows = [row for row in there.rows if row not in before]
        return replace(there, rows=rows) if rows else None

    def conclude(self, rows: Sequence[MeasuredRow]) -> Results:
        """Write the table of these rows, with what is computed from all of them together."""
        self.rows = list(rows)
        with updating(self.path):
            results = self.results()
            conclusion = self.study.measuring.conclusion
            if conclusion:
                results = replace(results, findings=conclusion(results.rows, self.path))
            write(self.path, results)
        return results


def with_paper(results: Results, study: Study) -> Results:
    """Results with the paper's figures, if some row is of the same data and not of a smaller scale."""
    paper = study.paper
    if paper is None or not any(
        row.data.startswith(paper.data) and row.block != SMALL for row in results.rows
    ):
        return replace(results, paper=())
    return replace(results, paper=paper.rows)


def collect(name: str, rows: Sequence[MeasuredRow]) -> Results:
    """The results of some rows, with the protocol that they share and those in which they differ."""
    by_row = {f"{one.row.label}, {one.row.data}": one.metrics for one in rows}
    hardware, versions, protocol = (
        common({row: metrics[part] for row, metrics in by_row.items()})
        for part in ("hardware", "versions", "protocol")
    )
    return Results(
        study=name,
        command=jobs.command_line(),
        hardware=hardware,
        versions=versions,
        protocol=protocol,
        rows=[one.row for one in rows],
    )
