"""Print result files as tables, next to the papers' figures, or update a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from polymodal.cli import parse_options

if TYPE_CHECKING:
    from polymodal.studies.result_files import Results


@dataclass(frozen=True, kw_only=True)
class ResultFiles:
    """Print result files as tables: mean ± standard deviation over seeds, next to the papers' figures."""

    files: Annotated[tuple[Path, ...], Positional]
    """Result files, results/SYSTEM/STUDY.json."""
    metrics: tuple[str, ...] = ()
    """Only these metrics; by default those of the study's table."""
    markdown: bool = False
    """Print Markdown."""
    page: Path | None = None
    """Update the tables of this page that name their result file; run from the root of the
    repository."""


def main(arguments: list[str]) -> None:
    from polymodal.base.errors import PolymodalError
    from polymodal.base.printing import tell
    from polymodal.base.progress import say
    from polymodal.studies import result_files

    options = parse_options(ResultFiles, "results", arguments)
    if not options.files and not options.page:
        raise PolymodalError("Name a result file, such as results/SYSTEM/STUDY.json.")
    if options.page:
        count = result_files.render_into(options.page, Path())
        say(f"{options.page}: {count} tables are up to date.")
    for file in options.files:
        results = result_files.read_results(file)
        metrics = options.metrics or study_metrics(results)
        table = result_files.summary(results, metrics, together=not options.markdown)
        if options.markdown:
            tell(table.markdown())
            continue
        table.print(f"{results.title}: {results.command}")
        for line in result_files.finding_lines(results.findings):
            say(line)


def study_metrics(results: "Results") -> tuple[str, ...] | None:
    """The metrics of its study's table that a result file has; None for all, of a study that is not ours."""
    from polymodal.studies import study

    if results.study not in study.study_names():
        return None
    known = {name for row in results.rows for name in row.metrics}
    return tuple(name for name in study.study_named(results.study).metrics if name in known) or None
