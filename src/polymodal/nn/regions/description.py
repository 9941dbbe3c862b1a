"""How regions are found and encoded, in words: a description that is kept with what was made by it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError, unknown
from polymodal.nn.feature_maps import fitting_size
from polymodal.nn.image_encoders import describe_backbone
from polymodal.nn.named_encoders import is_source

FINDERS = ("truth", "windows", "selective-search")
"""What finds boxes and needs nothing but a name."""

FROM = ("opencv", "transformers", "own")
"""What finds boxes and has a folder, a file or a hub id behind its name."""

ENCODERS = ("pixels", "none", "efficientnet-lite0", "ORG/MODEL", "a folder")

SIZES = {"pixels": 16, "none": 16, "crops": 128, "roi": 512}
"""Pixels of a side where none are given."""

MOST = 1000
"""The most boxes of a finder."""


def describe(
    *,
    finder: str = "truth",
    count: int = 30,
    encoder: str = "pixels",
    crop: int | None = None,
    context: float = 0.0,
    pool: str = "crops",
    geometry: bool = False,
) -> dict[str, Any]:
    """All that must be known to make the regions of a picture, as JSON.

    Args:
        finder: truth, windows, selective-search, opencv:FOLDER, transformers:MODEL or own:PATH, or
            several joined by '+', each with a number of boxes of its own behind '*' where it is not
            to be `count`.
        count: boxes of a picture.
        encoder: pixels; efficientnet-lite0; a transformers model by hub id or folder; none for what
            the finder says of a box alone.
        crop: pixels of a side to which crops are resized, or with `pool="roi"` whole pictures; by default
            16 of pixels, and of a network its own size or 128, with `pool="roi"` 512.
        context: how far a crop goes beyond its box on each side, in sides of the box.
        pool: "crops": the network sees each crop; "roi": it sees whole pictures, and its maps are pooled
            over each box.
        geometry: whether centre, sides and area of a box are features too.
    """
    if not 0 <= context <= 10:
        raise PolymodalError(f"context is a share of a box's sides from 0 to 10, not {context}.")
    if pool not in ("crops", "roi"):
        raise unknown("pool", pool, ["crops", "roi"])
    if crop is not None and not 1 <= crop <= 4096:
        raise PolymodalError(f"crop is a number of pixels from 1 to 4096, not {crop}.")
    found = read_finders(finder, count)
    if encoder == "none" and not geometry and all(one["kind"] in FINDERS for one in found):
        raise PolymodalError(
            "These regions would have no features: the finder gives boxes alone. Choose an encoder, such "
            "as pixels, or add the geometry."
        )
    kind = anywhere(encoder) if is_source(encoder) else encoder
    told = {"kind": kind, "crop": size(encoder, crop, pool), "context": context, "pool": pool}
    return {"finders": found, "encoder": told, "geometry": geometry}


def size(encoder: str, crop: int | None, pool: str) -> int:
    """Pixels of a side of what an encoder is given; refuse a size that it does not take."""
    if encoder in ("pixels", "none"):
        if pool == "roi":
            raise PolymodalError(f"The encoder {encoder} has no maps. Leave out pool=roi.")
        return SIZES[encoder] if crop is None else crop
    if encoder == "efficientnet-lite0":
        return SIZES[pool] if crop is None else crop
    if not is_source(encoder):
        raise unknown("encoder of regions", encoder, ENCODERS)
    config = describe_backbone(encoder)["config"]
    fitting = fitting_size(config, SIZES[pool] if crop is None else crop)
    if crop not in (None, fitting):
        raise PolymodalError(
            f"{encoder} takes pictures of {fitting}×{fitting}, not of {crop}×{crop}. Give --crop "
            f"{fitting}, or leave it out."
        )
    return fitting


def read_finders(text: str, count: int) -> list[dict[str, Any]]:
    """Finders from text.

    >>> [(f["kind"], f["source"], f["count"]) for f in read_finders("own:a+b*20+windows", 30)]
    [('own', 'a+b', 20), ('windows', '', 30)]
    """
    names = "|".join(map(re.escape, (*FINDERS, *FROM)))
    found = []
    for part in re.split(rf"\+(?=(?:{names})(?:$|[:*+]))", text):
        tail = re.search(r"\*(\d+)$", part)
        kind, colon, source = part.removesuffix(tail.group() if tail else "").partition(":")
        if kind not in (*FINDERS, *FROM):
            raise unknown("finder of regions", kind, [*FINDERS, *(f"{k}:PATH" for k in FROM)])
        if bool(source) != (kind in FROM) or bool(colon) != (kind in FROM):
            needs = "has a path behind it" if kind in FROM else "has no path behind it"
            raise PolymodalError(f"The finder {kind} {needs}, but {part!r} was given.")
        boxes = int(tail.group(1)) if tail else count
        if not 1 <= boxes <= MOST:
            raise PolymodalError(f"A finder gives 1 to {MOST} boxes of a picture, not {boxes}.")
        found.append({"kind": kind, "source": anywhere(source), "count": boxes})
    return found


def portable(description: Any) -> Any:
    """A description that names the last part of each path alone, so that it can be published.

    >>> portable({"finders": [{"kind": "opencv", "source": "/home/me/ssd", "count": 30}]})
    {'finders': [{'kind': 'opencv', 'source': 'ssd', 'count': 30}]}
    """
    if isinstance(description, Mapping):
        return {key: portable(value) for key, value in description.items()}
    if isinstance(description, list):
        return [portable(value) for value in description]
    if isinstance(description, str) and Path(description).is_absolute():
        return Path(description).name
    return description


def anywhere(source: str) -> str:
    """A name that means the same in every working directory: the whole path of what is here, else itself."""
    return str(Path(source).resolve()) if source and Path(source).exists() else source
