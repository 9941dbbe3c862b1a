"""Train a retrieval model on rendered scenes, search with it, and write a report, in minutes."""

from dataclasses import dataclass
from pathlib import Path

from polymodal.cli import parse_options


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Train a retrieval model on rendered scenes, ask three queries, and write a report."""

    run: Path = Path("runs/demo")
    """Directory of the run and its report.html; repeat the command to resume."""


def main(arguments: list[str]) -> None:
    options = parse_options(Demo, "demo", arguments)
    from polymodal.base.files import check_folder

    check_folder(options.run)
    from polymodal.studies.demo import demo

    demo(options.run)
