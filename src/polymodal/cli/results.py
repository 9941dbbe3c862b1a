"""Print result files as tables, next to the papers' figures, or update a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from polymodal.studies.result_files import Results


def main(arguments: list[str]) -> None:
    import tyro

    def results(
        files: Annotated[tuple[Path, ...], tyro.conf.Positional],
        metrics: tuple[str, ...] = (),
        markdown: bool = False,
        page: Path | None = None,
    ) -> None:
        """Print result files as tables: mean ± standard deviation over seeds, next to the papers' figures.

        Args:
            files: Result files, results/SYSTEM/STUDY.json.
            metrics: Only these metrics; by default those of the study's table.
            markdown: Print Markdown.
            page: Update the tables of this page that name their result file; run from the root
                of the repository.
        """
        from polymodal.base.errors import PolymodalError
        from polymodal.base.progress import say
        from polymodal.studies import result_files

        if not files and not page:
            raise PolymodalError("Name a result file, such as results/SYSTEM/STUDY.json.")
        for file in files:
            found = result_files.read(file)
            table = result_files.summary(found, metrics or usual(found), together=not markdown)
            if markdown:
                print(table.markdown())
            else:
                table.print(f"{found.title}: {found.command}")
                for line in result_files.finding_lines(found.findings):
                    say(line)
        if page:
            count = result_files.render_into(page, Path())
            say(f"{page}: {count} tables are up to date.")

    tyro.cli(results, args=arguments, prog="polymodal results")


def usual(found: "Results") -> tuple[str, ...] | None:
    """The metrics of a study's own table that a file has, where it is one of our studies; else all."""
    from polymodal.studies import study as studies

    if found.study not in studies.study_names():
        return None
    known = {name for row in found.rows for name in row.metrics}
    return tuple(name for name in studies.study_named(found.study).metrics if name in known) or None
