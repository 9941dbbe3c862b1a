"""Layouts as pictures: boxes in colours with their numbers and names, and pictures beside them.

An object has the number and colour of its place in the layout, wherever it is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from polymodal.data.layout_record import Layout
from polymodal.data.records import Images
from polymodal.views.grounding_sheet import colour_of
from polymodal.views.lettering import FAINT, INK, PAPER, font
from polymodal.views.picture_sheet import beside, lines, sheet_of, stacked

TILE, GAP, GUTTER, MARGIN = 256, 10, 40, 36
"""Pixels of a picture, between those of a layout, between layouts, and about the sheet."""
LETTERS, TAG, LEAD = 12, 16, 20
"""Pixels of letters, of the height of a name in its colour, and from line to line."""
CANVAS = (255, 255, 255)
STRENGTH = 0.25
"""How much of its colour fills a box."""

Edges = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class ShownLayout:
    """A layout, and the pictures that are shown beside it."""

    layout: Layout
    pictures: Images
    name: str = ""


def layout_sheet(shown: Sequence[ShownLayout], columns: int = 2) -> bytes:
    """A PNG: each layout with its pictures beside it and its names beneath, `columns` in a row."""
    cells = [cell(one) for one in shown]
    step = max(own.width for own in cells) + GUTTER
    columns = min(columns, len(cells))
    rows = [
        beside(cells[start : start + columns], columns * step - GUTTER, step)
        for start in range(0, len(cells), columns)
    ]
    return sheet_of(rows, gap=GUTTER, margin=MARGIN)


def cell(shown: ShownLayout) -> Image.Image:
    """A layout, its pictures with thin boxes, and what each number is."""
    tiles = [layout_image(shown.layout, TILE)]
    tiles += [outlined(picture, shown.layout, TILE) for picture in shown.pictures]
    width = len(tiles) * (TILE + GAP) - GAP
    parts = [beside(tiles, width, TILE + GAP), key(shown.layout, width)]
    if shown.name:
        parts.append(lines(shown.name, width, LETTERS, FAINT))
    return stacked(parts, gap=GAP)


def layout_image(layout: Layout, side: int) -> Image.Image:
    """A layout alone: filled boxes, small ones above large ones, with numbers and names."""
    edges = edges_of(layout, side)
    filled = np.full((side, side, 3), CANVAS, np.float32)
    for place in largest_first(edges):
        x0, y0, x1, y1 = edges[place]
        colour = np.array(colour_of(place), np.float32)
        filled[y0:y1, x0:x1] += STRENGTH * (colour - filled[y0:y1, x0:x1])
    image = Image.fromarray(filled.round().astype(np.uint8))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, side - 1, side - 1), outline=(210, 210, 206))
    for place in largest_first(edges):
        x0, y0, x1, y1 = edges[place]
        pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=colour_of(place), width=2)
    for place, (text, spot) in enumerate(labels(layout, edges, side)):
        pen.rectangle((spot[0], spot[1], spot[2] - 1, spot[3] - 1), fill=colour_of(place))
        middle = (spot[1] + spot[3]) / 2
        pen.text((spot[0] + 4, middle), text, fill=CANVAS, font=font(LETTERS), anchor="lm")
    return image


def outlined(picture: UInt8[np.ndarray, "h w 3"], layout: Layout, side: int) -> Image.Image:
    """A picture with a thin box about each object."""
    image = Image.fromarray(picture).resize((side, side), Image.Resampling.LANCZOS)
    pen, edges = ImageDraw.Draw(image), edges_of(layout, side)
    for place in largest_first(edges):
        x0, y0, x1, y1 = edges[place]
        pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=colour_of(place), width=2)
    return image


def edges_of(layout: Layout, side: int) -> list[Edges]:
    """The boxes of a layout in pixels of a square, each a pixel wide and high at least."""
    found: list[Edges] = []
    for x0, y0, x1, y1 in (layout.boxes * side).round().astype(int).tolist():
        left, top = min(x0, side - 1), min(y0, side - 1)
        found.append((left, top, max(x1, left + 1), max(y1, top + 1)))
    return found


def largest_first(edges: Sequence[Edges]) -> list[int]:
    """The places of boxes, small ones last."""
    return sorted(range(len(edges)), key=lambda k: -area(edges[k]))


def area(edges: Edges) -> int:
    """Pixels of a box."""
    return (edges[2] - edges[0]) * (edges[3] - edges[1])


def labels(layout: Layout, edges: Sequence[Edges], side: int) -> list[tuple[str, Edges]]:
    """Number and name of each object and where they stand, clear of each other; a number alone where its
    name would cover another object, since the key has all names."""
    placed: dict[int, tuple[str, Edges]] = {}
    for place in reversed(largest_first(edges)):  # small boxes have few places to choose among
        number, own = str(place + 1), edges[place]
        taken = [spot for _, spot in placed.values()]
        others = [other for k, other in enumerate(edges) if k != place]
        named = f"{number} {layout.labels[place]}"
        spots = [(named, s) for s in within(own, wide(named))]
        spots += [(named, s) for s in around(own, wide(named)) if not hits(s, others)]
        spots += [(number, s) for s in (*within(own, wide(number)), *around(own, wide(number)))]
        clear = [one for one in spots if inside(one[1], side) and not hits(one[1], taken)]
        placed[place] = clear[0] if clear else (number, at_corner(own, wide(number), side))
    return [placed[place] for place in range(len(edges))]


def wide(text: str) -> int:
    """Pixels that a text with its margins takes."""
    return round(font(LETTERS).getlength(text)) + 8


def within(edges: Edges, wide: int) -> list[Edges]:
    """The corners of a box as places of a text so wide, if it is no wider."""
    x0, y0, x1, y1 = edges
    lefts = (x0, x1 - wide) if wide <= x1 - x0 else ()
    return [(left, top, left + wide, top + TAG) for top in (y0, y1 - TAG) for left in lefts]


def around(edges: Edges, wide: int) -> list[Edges]:
    """The same above and below a box."""
    x0, y0, x1, y1 = edges
    return [
        (left, top, left + wide, top + TAG) for top in (y0 - TAG, y1) for left in (x0, x1 - wide)
    ]


def at_corner(edges: Edges, wide: int, side: int) -> Edges:
    """The upper left corner of a box, or as near to it as the picture allows."""
    left, top = min(edges[0], side - wide), min(edges[1], side - TAG)
    return left, top, left + wide, top + TAG


def inside(spot: Edges, side: int) -> bool:
    """Whether a place lies in a square."""
    return min(spot) >= 0 and max(spot) <= side


def hits(spot: Edges, others: Sequence[Edges]) -> bool:
    """Whether a place overlaps one of some boxes."""
    x0, y0, x1, y1 = spot
    return any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in others)


def key(layout: Layout, width: int) -> Image.Image:
    """Each object's number in its colour and its name, in as many lines as that takes."""
    letters, x, row = font(LETTERS + 1), 0, 0
    spots = []
    for label in layout.labels:
        wide = TAG + 6 + round(letters.getlength(label)) + 14
        if x and x + wide > width:
            x, row = 0, row + 1
        spots.append((x, row * LEAD))
        x += wide
    image = Image.new("RGB", (width, LEAD * (row + 1)), PAPER)
    pen = ImageDraw.Draw(image)
    for place, (label, (left, top)) in enumerate(zip(layout.labels, spots, strict=True)):
        pen.rectangle((left, top + 1, left + TAG - 1, top + TAG), fill=colour_of(place))
        middle = (left + TAG / 2, top + 1 + TAG / 2)
        pen.text(middle, str(place + 1), fill=CANVAS, font=font(LETTERS), anchor="mm")
        pen.text((left + TAG + 6, middle[1]), label, fill=INK, font=letters, anchor="lm")
    return image
