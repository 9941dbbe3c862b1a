"""Compute the regions of images once, for grounding: boxes and a vector of each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional

from polymodal.cli import Device, SkipBad, parse_options


@dataclass(frozen=True, kw_only=True)
class Regions:
    """Compute the regions of images once; repeat the command to resume."""

    data: Annotated[str, Positional]
    """Dataset, named as in `polymodal train`."""
    out: Path
    """Regions folder to create or resume, for `polymodal train --regions`."""
    finder: str = "truth"
    """What finds boxes: truth (true boxes among others), windows, selective-search, opencv:FOLDER,
    transformers:MODEL or own:PATH. Several are joined by +, a number of boxes of one's own is given as
    windows*20."""
    count: int = 30
    """Boxes of an image."""
    encoder: str = "pixels"
    """What makes a vector of a box: pixels, efficientnet-lite0, a transformers model (hub id or folder), or
    none for what the finder gives with it alone."""
    crop: int | None = None
    """Pixels of a side to which crops are resized, or with --pool roi whole images. By default 16 for
    pixels, and for a network its own size, or 128, with --pool roi 512."""
    context: float = 0.0
    """How far a crop goes beyond its box on each side, in sides of the box."""
    pool: Literal["crops", "roi"] = "crops"
    """Whether the network sees each crop, or whole images, its maps then pooled over each box."""
    geometry: bool = False
    """Add centre, sides and area of each box to its features."""
    dtype: Literal["float16", "float32"] = "float16"
    """Precision in which features are kept."""
    batch_size: int = 32
    """Images at once."""
    device: Device = "cpu"
    skip_bad: SkipBad = False


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_folder
    from polymodal.base.progress import say
    from polymodal.nn import regions
    from polymodal.runs.region_building import compute_regions

    given = vars(parse_options(Regions, "regions", arguments))
    check_folder(given["out"])
    how = ("finder", "count", "encoder", "crop", "context", "pool", "geometry")
    description = regions.describe(**{name: given.pop(name) for name in how})
    for name, summary in compute_regions(description=description, **given).items():
        say(
            f"{name}: {summary['recall']:.1f} % of {summary['boxes']} true boxes have a region with "
            "intersection over union of at least 0.5."
        )
