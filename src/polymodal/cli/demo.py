"""Train a retrieval model on rendered scenes, search with it, and write a report, in minutes."""

from pathlib import Path


def main(arguments: list[str]) -> None:
    import tyro

    def run_demo(run: Path = Path("runs/demo")) -> None:
        """Train a retrieval model on rendered scenes, ask three queries, and write a report.

        Args:
            run: Directory of the run and its report.html; repeat the command to resume.
        """
        from polymodal.studies.demo import demo

        demo(run)

    tyro.cli(run_demo, args=arguments, prog="polymodal demo")
