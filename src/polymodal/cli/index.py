"""Embed the images or captions of a run once for search; repeat the command to resume."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """What to index."""

    out: Path
    """Index folder to create or resume."""
    data: str | None = None
    """Other data than the run's own, named as in `polymodal train`."""
    features: Path | None = None
    """Features of these data."""
    split: tuple[str, ...] = ("test",)
    """Splits to index."""
    items: Literal["images", "captions"] = "images"
    """Items to index."""
    skip_bad: bool = False
    """Skip bad records of a folder."""
    device: str = "cpu"
    """Device to compute on, for instance cuda."""


def main(arguments: list[str]) -> None:
    import tyro

    from polymodal.search.index_settings import Settings

    flat: Any = tyro.conf.arg(name="")

    def index(
        run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
        options: Annotated[Indexing, flat],
        settings: Annotated[Settings, flat],
    ) -> None:
        """Embed the images or captions of a run once for search.

        Args:
            run: Run directory.
            options: What to index.
            settings: How to search.
        """
        from polymodal.runs.index_building import index_run

        index_run(run, settings=settings, **asdict(options)).close()

    tyro.cli(index, args=arguments, prog="polymodal index")
