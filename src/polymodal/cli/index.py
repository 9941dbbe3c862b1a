"""Embed a run's images or captions once, so that they can be searched; killed, the same command goes on."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """What to index and where to leave it."""

    out: Path
    """The folder of the index to make, or to go on with."""
    data: str | None = None
    """Other data than the run was trained on, named as in `polymodal train`."""
    features: Path | None = None
    """Features of those data."""
    split: tuple[str, ...] = ("test",)
    """Which splits."""
    items: Literal["images", "captions"] = "images"
    """What is to be found."""
    skip_bad: bool = False
    """Leave out bad records of a folder."""
    device: str = "cpu"
    """Where to compute, for instance cuda."""


def main(arguments: list[str]) -> None:
    import tyro

    from polymodal.search.index_settings import Settings

    flat: Any = tyro.conf.arg(name="")

    def index(
        run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
        options: Annotated[Indexing, flat],
        settings: Annotated[Settings, flat],
    ) -> None:
        """Embed a run's images or captions once, so that they can be searched.

        Args:
            run: The run directory.
            options: What to index.
            settings: How it is searched.
        """
        from polymodal.runs.index_building import index_run

        index_run(run, settings=settings, **asdict(options)).close()

    tyro.cli(index, args=arguments, prog="polymodal index")
