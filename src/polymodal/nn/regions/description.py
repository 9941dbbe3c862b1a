"""How regions are found and encoded, in words: a description that is kept with what was made by it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from polymodal.base.errors import PolymodalError, unknown
from polymodal.nn.regions.finding import Finder
from polymodal.nn.regions.pixels import Pixels
from polymodal.nn.regions.truth import Truth
from polymodal.nn.regions.windows import Windows

FINDERS: Mapping[str, Callable[[str, int], Finder]] = {"truth": Truth, "windows": Windows}
"""What finds boxes, by its name: made of the path behind the name and a number of boxes."""

MOST = 1000
"""The most boxes of an image."""


def describe(
    *,
    finder: str = "truth",
    count: int = 30,
    encoder: str = "pixels",
    crop: int | None = None,
    context: float = 0.0,
    geometry: bool = False,
) -> dict[str, Any]:
    """All that must be known to make the regions of a picture, as JSON.

    Args:
        finder: a finder's name, or several joined by '+', each with a number of boxes of its own
            behind '*' where it is not to be `count`.
        count: boxes of a picture.
        encoder: pixels.
        crop: pixels of a side to which crops are resized; by default 16.
        context: how far a crop goes beyond its box on each side, in sides of the box.
        geometry: whether place, size and area of a box are features too.
    """
    if not 0 <= context <= 10:
        raise PolymodalError(f"context is a share of a box's sides from 0 to 10, not {context}.")
    if encoder != "pixels":
        raise unknown("encoder of regions", encoder, ["pixels"])
    crop = 16 if crop is None else crop
    if not 1 <= crop <= 1024:
        raise PolymodalError(f"crop is a number of pixels from 1 to 1024, not {crop}.")
    return {
        "finders": read_finders(finder, count),
        "encoder": {"kind": encoder, "crop": crop, "context": context},
        "geometry": geometry,
    }


def read_finders(text: str, count: int) -> list[dict[str, Any]]:
    """Finders from text.

    >>> [(one["kind"], one["count"]) for one in read_finders("truth*20+windows", 30)]
    [('truth', 20), ('windows', 30)]
    """
    names = "|".join(map(re.escape, FINDERS))
    found = []
    for part in re.split(rf"\+(?=(?:{names})(?:$|[:*+]))", text):
        kind, _, source = part.partition(":")
        tail = re.search(r"\*(\d+)$", part)
        if tail:
            kind, source = kind.removesuffix(tail.group()), source.removesuffix(tail.group())
        if kind not in FINDERS:
            raise unknown("finder of regions", kind, FINDERS)
        boxes = int(tail.group(1)) if tail else count
        if not 1 <= boxes <= MOST:
            raise PolymodalError(f"A picture has 1 to {MOST} boxes of a finder, not {boxes}.")
        found.append({"kind": kind, "source": source, "count": boxes})
    return found


def open_finders(description: Mapping[str, Any]) -> list[Finder]:
    """The finders of a description, opened."""
    return [FINDERS[one["kind"]](one["source"], one["count"]) for one in description["finders"]]


def open_encoder(description: Mapping[str, Any]) -> Pixels:
    """The encoder of a description, opened."""
    told = description["encoder"]
    return Pixels(told["crop"], told["context"])
