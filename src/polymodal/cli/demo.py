"""Draw scenes, train a retrieval model, ask it three things and write a page about it, in minutes."""

from pathlib import Path


def main(arguments: list[str]) -> None:
    import tyro

    def run_demo(run: Path = Path("runs/demo")) -> None:
        """Draw scenes, train a retrieval model, ask it three things and write a page about it.

        Args:
            run: Where to leave the run and its report.html; killed, the same command goes on.
        """
        from polymodal.studies.demo import demo

        demo(run)

    tyro.cli(run_demo, args=arguments, prog="polymodal demo")
