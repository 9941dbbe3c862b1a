"""A sheet of items whose modalities are arrays: side by side, with the outlines of the mask's classes."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Integer, Shaped
from PIL import Image, ImageDraw, ImageOps

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.modalities import modalities
from polymodal.data.records import Dataset, Record
from polymodal.views.lettering import FAINT, INK, PAPER, font
from polymodal.views.picture_sheet import beside, lines, stacked

TILE, GAP, MARGIN, SMALL = 232, 8, 32, 12

PALETTE = ((86, 180, 233), (0, 200, 130), (245, 80, 60), (240, 228, 66), (204, 121, 167))
"""Of the classes' outlines."""


def modality_sheet(dataset: Dataset, path: Path, count: int = 12) -> None:
    """Write a PNG of `count` items spread over the split, one a row."""
    names = modalities(dataset)
    if not names:
        raise PolymodalError(
            f"These data have no modalities to show, but only: {', '.join(dataset.columns)}."
        )
    if count < 1 or not len(dataset):
        raise PolymodalError(
            f"A sheet shows one item at least, but was asked for {count} of {len(dataset)}."
        )
    places = np.unique(np.linspace(0, len(dataset) - 1, min(count, len(dataset))).round())
    columns: Any = dataset.columns
    classes = columns["mask"].classes[1:] if "mask" in columns else ()
    width = len(names) * (TILE + GAP) - GAP
    rows = [_key(names, classes, width)]
    rows += [_row(dataset[int(place)], names, width) for place in places]
    content = io.BytesIO()
    ImageOps.expand(stacked(rows, 2 * GAP), MARGIN, PAPER).save(content, "PNG")
    files.write_bytes(Path(path), content.getvalue())


def _key(names: Sequence[str], classes: Sequence[str], width: int) -> Image.Image:
    """The names of the modalities, and each class in the colour of its outline."""
    found = Image.new("RGB", (width, 44), PAPER)
    pen, x = ImageDraw.Draw(found), 0.0
    for number, name in enumerate(classes):
        pen.rectangle((x, 4, x + 10, 14), fill=PALETTE[number % len(PALETTE)], outline=FAINT)
        pen.text((x + 16, 2), name, fill=INK, font=font(SMALL))
        x += 32 + font(SMALL).getlength(name)
    for place, name in enumerate(names):
        pen.text((place * (TILE + GAP), 26), name, fill=INK, font=font(SMALL + 2))
    return found


def _row(record: Record, names: Sequence[str], width: int) -> Image.Image:
    """One item."""
    mask = record.values.get("mask")
    plane = 0 if mask is None or mask.ndim == 2 else int((mask > 0).sum((1, 2)).argmax())
    tiles = []
    for name in names:
        if name not in record:
            tiles.append(_missing())
            continue
        shown = record[name][0]
        if shown.ndim == 3:
            middle = plane if mask is not None and mask.any() else len(shown) // 2
            shown = shown[middle]
        flat = mask if mask is None or mask.ndim == 2 else mask[plane]
        tiles.append(_tile(shown, flat))
    told = record.id if mask is None or mask.ndim == 2 else f"{record.id}, plane {plane}"
    return stacked([beside(tiles, width, TILE + GAP), lines(told, width, SMALL, FAINT)], GAP)


def _missing() -> Image.Image:
    found = Image.new("RGB", (TILE, TILE), (234, 234, 232))
    middle = (TILE // 2, TILE // 2)
    ImageDraw.Draw(found).text(middle, "missing", fill=FAINT, font=font(SMALL), anchor="mm")
    return found


def _tile(
    pixels: Shaped[np.ndarray, "h w"], mask: Integer[np.ndarray, "h w"] | None
) -> Image.Image:
    """A plane in gray from its darkest to nearly its brightest, with the outline of each class."""
    values = pixels.astype(np.float64)
    low, high = values.min(), np.quantile(values, 0.998)
    gray = (255 * np.clip((values - low) / max(high - low, 1e-9), 0, 1)).astype(np.uint8)
    image = _fitted(Image.fromarray(gray), Image.Resampling.BICUBIC).convert("RGB")
    if mask is not None:
        drawn = np.asarray(image).copy()
        classes = np.asarray(_fitted(Image.fromarray(mask.astype(np.uint8)), 0))
        for k in np.unique(classes[classes > 0]).tolist():
            drawn[outline(classes == k)] = PALETTE[(k - 1) % len(PALETTE)]
        image = Image.fromarray(drawn)
    return image


def _fitted(image: Image.Image, how: int) -> Image.Image:
    """A picture in a square tile, of its own shape."""
    return ImageOps.pad(image, (TILE, TILE), Image.Resampling(how), color=0)


def outline(inside: Bool[np.ndarray, "h w"]) -> Bool[np.ndarray, "h w"]:
    """The pixels of a region that have a neighbour outside it.

    >>> outline(np.ones((3, 3), bool)).sum()
    np.int64(8)
    """
    around = np.pad(inside, 1)
    all_in = around[:-2, 1:-1] & around[2:, 1:-1] & around[1:-1, :-2] & around[1:-1, 2:]
    found: np.ndarray = inside & ~all_in
    return found
