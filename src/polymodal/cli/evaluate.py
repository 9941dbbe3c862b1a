"""Score a run on a split of its own data, or of other data."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Score a run on a split of its own data, or of other data."""

    data: str | None = None
    """Other data than the run was trained on, named as in `polymodal train`."""
    features: Path | None = None
    """Features of those data."""
    split: str = "test"
    """train, val, test, or composition where a world holds combinations out."""
    skip_bad: bool = False
    """Leave out bad records of a folder."""
    device: str = "cpu"
    """Where to compute, for instance cuda."""
    out: Path | None = None
    """A JSON file for the scores and their protocol."""


def main(arguments: list[str]) -> None:
    import tyro

    def evaluate(
        run: Annotated[Path, tyro.conf.Positional],
        options: Annotated[Evaluate, tyro.conf.arg(name="")],
    ) -> None:
        """Score a run on a split of its own data, or of other data.

        Args:
            run: The run directory.
            options: What to score it on.
        """
        from polymodal import jobs
        from polymodal.files import write_json
        from polymodal.tables import scores_table

        asked = asdict(options)
        out = asked.pop("out")
        found = jobs.evaluate(run, **asked)
        scores_table(found["scores"]).print(f"{run} on {found['protocol']['data']}")
        if out:
            write_json(out, found)
            jobs.say(f"Wrote {out}.")

    tyro.cli(evaluate, args=arguments, prog="polymodal evaluate")
