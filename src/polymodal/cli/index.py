"""Embed the images or captions of a run once for search; repeat the command to resume."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from polymodal.cli import Device, OtherData, SkipBad, TheirFeatures, parse_options
from polymodal.search.index_settings import Settings


@dataclass(frozen=True, kw_only=True)
class Index:
    """Embed the images or captions of a run once for search."""

    run: Annotated[Path, Positional, arg(metavar="RUN")]
    """Run directory."""
    out: Path
    """Index folder to create or resume."""
    data: OtherData = None
    features: TheirFeatures = None
    split: tuple[str, ...] = ("test",)
    """Splits to index."""
    items: Literal["images", "captions"] = "images"
    """Items to index."""
    skip_bad: SkipBad = False
    device: Device = "cpu"
    settings: Annotated[Settings, arg(name="")]
    """How to search."""


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_folder
    from polymodal.runs.index_building import index_run

    options = parse_options(Index, "index", arguments)
    check_folder(options.out)
    index_run(**vars(options)).close()
