"""A sheet of pictures: rows with their text above, or pictures with a text beneath each."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageOps

from polymodal.data.records import Images
from polymodal.views.lettering import FAINT, INK, PAPER, font, wrap

TILE, GAP, MARGIN = 168, 12, 40
"""Pixels of a picture, between pictures, and about the sheet."""
ROUND = 7
"""Pixels by which the corners of a picture are rounded."""
COLUMNS, FEWEST = 8, 3
"""Pictures in a line, at most, and how many a line has room for at least, so that a text fits above."""
TITLE, PLAIN, SMALL = 19, 13, 12
"""Sizes of letters: above a row, beneath a picture, and at the foot."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """Pictures that belong together."""

    images: Images
    title: str = ""
    """What stands above them."""
    captions: Sequence[str] = ()
    """What stands beneath each."""


def sheet(rows: Sequence[Row], foot: str = "") -> bytes:
    """A PNG of the rows, one below the other, and a line at the foot."""
    columns = min(COLUMNS, max(len(row.images) for row in rows))
    width = max(columns, FEWEST) * (TILE + GAP) - GAP
    blocks = [block(row, width, columns) for row in rows]
    if foot:
        blocks.append(lines(foot, width, SMALL, FAINT))
    return sheet_of(blocks, gap=MARGIN, margin=MARGIN)


def sheet_of(parts: Sequence[Image.Image], *, gap: int, margin: int) -> bytes:
    """A PNG of some parts, one below the other, with a margin about them."""
    content = io.BytesIO()
    page = ImageOps.expand(stacked(parts, gap), margin, PAPER)
    page.save(content, "PNG", optimize=True)
    return content.getvalue()


def block(row: Row, width: int, columns: int) -> Image.Image:
    """A row: its title, then its pictures, in several lines where there are many."""
    cells = [tile(image) for image in row.images]
    if row.captions:
        cells = [
            stacked([cell, lines(text, TILE, PLAIN, INK)], gap=8)
            for cell, text in zip(cells, row.captions, strict=True)
        ]
    starts = range(0, len(cells), columns)
    parts = [beside(cells[start : start + columns], width) for start in starts]
    if row.title:
        parts.insert(0, lines(row.title, width, TITLE, INK))
    return stacked(parts, gap=2 * GAP if row.captions else GAP)


def stacked(parts: Sequence[Image.Image], gap: int) -> Image.Image:
    """Images one below the other."""
    height = sum(part.height for part in parts) + gap * (len(parts) - 1)
    image = Image.new("RGB", (max(part.width for part in parts), height), PAPER)
    top = 0
    for part in parts:
        image.paste(part, (0, top))
        top += part.height + gap
    return image


def beside(parts: Sequence[Image.Image], width: int, step: int = TILE + GAP) -> Image.Image:
    """Tiles one beside the other, from each one's left to the next one's."""
    image = Image.new("RGB", (width, max(part.height for part in parts)), PAPER)
    for place, part in enumerate(parts):
        image.paste(part, (place * step, 0))
    return image


def lines(text: str, width: int, size: int, colour: tuple[int, int, int]) -> Image.Image:
    """A text within a width."""
    wrapped, lead = wrap(text, width, size), round(1.35 * size)
    image = Image.new("RGB", (width, lead * len(wrapped) or 1), PAPER)
    pen = ImageDraw.Draw(image)
    for place, line in enumerate(wrapped):
        pen.text((0, lead * place), line, fill=colour, font=font(size))
    return image


def tile(image: np.ndarray) -> Image.Image:
    """A picture of the size of a tile, with round corners."""
    picture = Image.fromarray(image).resize((TILE, TILE), Image.Resampling.LANCZOS)
    return Image.composite(picture, Image.new("RGB", picture.size, PAPER), corners())


@cache
def corners() -> Image.Image:
    """White where a tile is, drawn four times as large so that the corners come out smooth."""
    mask = Image.new("L", (4 * TILE, 4 * TILE), 0)
    box = (0, 0, 4 * TILE - 1, 4 * TILE - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, 4 * ROUND, fill=255)
    return mask.resize((TILE, TILE), Image.Resampling.LANCZOS)
