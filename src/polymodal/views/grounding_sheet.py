"""Captions grounded in pictures: a box in the colour of each phrase, as a PNG and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from polymodal.systems.grounding.grounded import Grounded, GroundedPhrase
from polymodal.views.lettering import FAINT, INK, PAPER, font, wrap
from polymodal.views.markup import escape, number, picture
from polymodal.views.page import Section, write_report
from polymodal.views.picture_sheet import sheet_of, stacked

Colour = tuple[int, int, int]

COLOURS: tuple[Colour, ...] = (
    (214, 39, 40),
    (31, 119, 180),
    (44, 160, 44),
    (230, 120, 0),
    (148, 80, 189),
    (0, 150, 160),
    (190, 60, 130),
    (120, 100, 20),
)
"""Of the first phrase, the second, and so on; then again."""

WIDTH, MARGIN, GAP = 512, 24, 14
"""Pixels of a picture, about the sheet, and between its parts."""

TAG = 18
"""Pixels of the square with a phrase's number."""

LETTERS, LEAD = 15, 22
"""Pixels of letters, and from line to line."""


@dataclass(frozen=True, kw_only=True)
class GroundedPicture:
    """A picture with a caption that was grounded in it."""

    image: UInt8[np.ndarray, "h w 3"]
    answer: Grounded
    name: str = ""


def grounding_sheet(shown: Sequence[GroundedPicture]) -> bytes:
    """A PNG: each picture with its boxes, and its phrases beneath."""
    parts = [stacked([boxed(one), legend(one.answer)], gap=GAP) for one in shown]
    return sheet_of(parts, gap=2 * MARGIN, margin=MARGIN)


def colour_of(place: int) -> Colour:
    """The colour of a caption's phrase."""
    return COLOURS[place % len(COLOURS)]


def boxed(shown: GroundedPicture) -> Image.Image:
    """The picture, with the first box of each phrase and its number."""
    image = Image.fromarray(shown.image)
    scale = WIDTH / image.width
    image = image.resize((WIDTH, max(round(image.height * scale), 1)), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(image)
    corners = []
    for place, phrase in enumerate(shown.answer):
        x0, y0, x1, y1 = (scale * edge for edge in phrase.box)
        inset = 4 * (place % 3)  # boxes of several phrases that agree are seen beside each other
        edges = (x0 + inset, y0 + inset, max(x1 - inset, x0 + inset), max(y1 - inset, y0 + inset))
        pen.rectangle(edges, outline=(255, 255, 255), width=5)
        pen.rectangle(edges, outline=colour_of(place), width=3)
        corners.append(edges[:2])
    for place, (left, top) in enumerate(tag_corners(corners)):
        pen.rectangle((left, top, left + TAG, top + TAG), fill=colour_of(place))
        middle = (left + TAG / 2, top + TAG / 2)
        pen.text(middle, str(place + 1), fill=(255, 255, 255), font=font(13), anchor="mm")
    return image


def tag_corners(corners: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where the numbers of boxes with these upper left corners stand: there, or right of another number.

    >>> tag_corners([(0, 0), (4, 4), (90, 0)])
    [(0, 0), (20, 4), (90, 0)]
    """
    placed: list[tuple[float, float]] = []
    for left, top in corners:
        for x, y in sorted(placed):
            if abs(x - left) < TAG + 2 and abs(y - top) < TAG + 2:
                left = x + TAG + 2
        placed.append((left, top))
    return placed


def legend(answer: Grounded) -> Image.Image:
    """The caption, and a line a phrase: its number and colour, its text, and how much it attends."""
    caption = wrap(answer.caption, WIDTH, LETTERS)
    image = Image.new("RGB", (WIDTH, LEAD * (len(caption) + len(answer)) + 6), PAPER)
    pen = ImageDraw.Draw(image)
    for line, text in enumerate(caption):
        pen.text((0, LEAD * line), text, fill=INK, font=font(LETTERS))
    for place, phrase in enumerate(answer):
        top = LEAD * (len(caption) + place) + 6
        pen.rectangle((0, top + 2, 16, top + 18), fill=colour_of(place))
        white, letters = (255, 255, 255), font(LETTERS)
        pen.text((8, top + 10), str(place + 1), fill=white, font=font(13), anchor="mm")
        pen.text((26, top), phrase.text, fill=INK, font=letters)
        pen.text((WIDTH, top), attention_words(phrase), fill=FAINT, font=letters, anchor="ra")
    return image


def attention_words(phrase: GroundedPhrase) -> str:
    """How much a phrase attends to its box, and how spread its attention is."""
    return f"attention {phrase.attention[0]:.2f}, entropy {phrase.entropy:.1f}"


def write_grounding_page(
    path: Path, title: str, lead: str, shown: Sequence[GroundedPicture]
) -> None:
    """Write a page that needs no other file: pictures with their boxes, and attention in numbers."""
    sections = [
        Section(
            one.name or one.answer.caption,
            f'<div class="scenes"><article class="scene">{grounded_markup(one)}</article></div>'
            f"{attention_table(one.answer)}",
            note=f"Attention is shared among {one.answer.regions} regions.",
        )
        for one in shown
    ]
    write_report(path, title, lead, sections)


def grounded_markup(shown: GroundedPicture) -> str:
    """The picture with its boxes and the caption beneath."""
    whole = stacked([boxed(shown), legend(shown.answer)], gap=GAP)
    return picture(np.asarray(whole), shown.answer.caption)


def attention_table(answer: Grounded) -> str:
    """The best regions of each phrase."""
    rows = [
        f"<tr><td>{place + 1}</td><td>{escape(phrase.text)}</td><td>{number(share)}</td>"
        f"<td>{', '.join(f'{edge:.0f}' for edge in box)}</td></tr>"
        for place, phrase in enumerate(answer)
        for box, share in zip(phrase.boxes, phrase.attention, strict=True)
    ]
    head = "<tr><th></th><th>phrase</th><th>attention</th><th>box x0, y0, x1, y1</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
