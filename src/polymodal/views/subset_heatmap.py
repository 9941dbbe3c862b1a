"""Dice of every subset of the modalities and every class as a picture: rows are subsets, columns classes."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw

from polymodal.data.scan_columns import subset_name, subsets
from polymodal.views.lettering import FAINT, INK, PAPER, font

WIDE, HIGH, MARGIN, HEAD, SMALL = 96, 34, 24, 64, 13

FOOT = "Dice in percent, the mean of patients; a dash where no item has all of the subset."

Cells = Float[np.ndarray, "s k"]


def subset_heatmap(
    scores: Mapping[str, float], modalities: Sequence[str], classes: Sequence[str], title: str
) -> bytes:
    """A PNG: dark is 0, yellow 100; where there are several classes, the first column is their mean."""
    rows = [subset_name(own) for own in subsets(modalities)]
    rows = [name for name in rows if f"dice_{name}" in scores]
    names, values = cells(scores, rows, classes)
    left = MARGIN + 12 + int(max(font(SMALL).getlength(name) for name in [*rows, ""]))
    width = max(left + WIDE * len(names), int(font(SMALL).getlength(FOOT)) + MARGIN)
    picture = Image.new("RGB", (width + MARGIN, HEAD + HIGH * len(rows) + 56), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 14), title, fill=INK, font=font(SMALL + 2))
    for column, name in enumerate(names):
        place = (left + (column + 0.5) * WIDE, HEAD - 8)
        pen.text(place, name, fill=INK, font=font(SMALL), anchor="ms")
    for row, name in enumerate(rows):
        top = HEAD + row * HIGH
        pen.text((left - 12, top + HIGH / 2), name, fill=INK, font=font(SMALL), anchor="rm")
        for column in range(len(names)):
            _cell(pen, left + column * WIDE, top, float(values[row, column]))
    pen.text((MARGIN, HEAD + HIGH * len(rows) + 20), FOOT, fill=FAINT, font=font(SMALL))
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def cells(
    scores: Mapping[str, float], rows: Sequence[str], classes: Sequence[str]
) -> tuple[list[str], Cells]:
    """The names of the columns, and Dice of each subset and column; nan where it was not measured.

    >>> cells({"dice_t1": 4.0, "dice_t1_rim": 2.0, "dice_t1_core": 6.0}, ["t1"], ["rim", "core"])
    (['all classes', 'rim', 'core'], array([[4., 2., 6.]]))
    """
    if len(classes) == 1:
        return list(classes), np.array([[scores[f"dice_{row}"]] for row in rows])
    found = [
        [scores[f"dice_{row}"], *[scores.get(f"dice_{row}_{kind}", np.nan) for kind in classes]]
        for row in rows
    ]
    return ["all classes", *classes], np.array(found)


def _cell(pen: ImageDraw.ImageDraw, left: float, top: float, value: float) -> None:
    """A square in the colour of its value, with the number in it."""
    box = (left + 1, top + 1, left + WIDE - 1, top + HIGH - 1)
    middle = (left + WIDE / 2, top + HIGH / 2)
    if np.isnan(value):
        pen.text(middle, "-", fill=FAINT, font=font(SMALL), anchor="mm")
        return
    from matplotlib import colormaps

    colour = tuple(int(255 * part) for part in colormaps["viridis"](value / 100)[:3])
    pen.rectangle(box, fill=colour)
    ink = INK if value > 60 else PAPER
    pen.text(middle, f"{value:.1f}", fill=ink, font=font(SMALL), anchor="mm")
