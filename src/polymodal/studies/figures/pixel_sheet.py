"""A white sheet that is drawn on in pixels, from its left and top, and written as a PNG."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, UInt8

from polymodal.base import files

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDTH, MARGIN, HEAD, DPI = 1600, 36, 62, 100
"""The pixels of a sheet from left to right, of its margins, of a heading, and of an inch."""

INK, SOFT, RULE, ACCENT, SECOND = "#22242a", "#5b606b", "#e3e1da", "#1f5fa8", "#b4541a"
"""The colours of a run's report; blue and orange can be distinguished by the colour-blind too."""

HEADING, PLAIN, SMALL = 24, 19, 17
"""Sizes of letters in pixels."""


@dataclass(frozen=True)
class Word:
    """A word of a text on a sheet."""

    text: str
    marked: bool = False
    """Whether it is not what it should be."""


class Sheet:
    """One page; matplotlib's own state, and the user's figures, are left alone."""

    def __init__(self, height: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.height = height
        self.figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.figure)
        self.page = self.axes(0, 0, WIDTH, height)
        self.page.set(xlim=(0, WIDTH), ylim=(height, 0), autoscale_on=False)
        self.page.axis("off")

    def axes(self, left: float, top: float, width: float, height: float) -> "Axes":
        """A part of the sheet with axes of its own."""
        below = self.height - top - height
        place = (left / WIDTH, below / self.height, width / WIDTH, height / self.height)
        return self.figure.add_axes(place)

    def write(
        self,
        text: str,
        left: float,
        top: float,
        *,
        size: float = PLAIN,
        colour: str = INK,
        align: Any = "left",
        bold: bool = False,
    ) -> None:
        """A line of text; `left` is its middle or its right end if it is aligned so."""
        weight = "bold" if bold else "normal"
        self.page.text(
            left, top, text, size=points(size), color=colour, ha=align, va="top", weight=weight
        )

    def head(
        self,
        text: str,
        top: float,
        note: str = "",
        *,
        left: float = MARGIN,
        right: float = WIDTH - MARGIN,
    ) -> None:
        """A heading under a rule, with a note at its right; HEAD pixels high."""
        self.page.hlines(top, left, right, RULE, linewidth=1.5)
        self.write(text, left, top + 12, size=HEADING, bold=True)
        self.write(note, right, top + 16, size=SMALL, colour=SOFT, align="right")

    def spell(
        self,
        lines: Sequence[Sequence[Word]],
        left: float,
        top: float,
        *,
        size: float = PLAIN,
        colour: str = INK,
    ) -> None:
        """Lines of words, those that are marked bold and orange."""
        from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea, VPacker

        def box(word: Word) -> "Artist":
            style = {"color": SECOND, "weight": "bold"} if word.marked else {"color": colour}
            return TextArea(word.text, textprops={"size": points(size), **style})

        gap = points(size / 3)
        rows: list[Artist] = [
            HPacker(pad=0, sep=gap, children=[box(word) for word in line]) for line in lines
        ]
        whole = VPacker(pad=0, sep=gap / 2, align="left", children=rows)
        self.page.add_artist(
            AnnotationBbox(
                whole,
                (left, top),
                box_alignment=(0, 1),
                frameon=False,
                pad=0,
            )
        )

    def picture(
        self, image: UInt8[np.ndarray, "h w 3"], left: float, top: float, side: float
    ) -> None:
        """A square image."""
        self.page.imshow(
            image,
            extent=(left, left + side, top + side, top),
            aspect="auto",
            interpolation="bicubic",
        )

    def histogram(
        self,
        chances: Float[np.ndarray, " v"],
        chosen: int,
        left: float,
        top: float,
        width: float,
        height: float,
    ) -> None:
        """The probability of each word as a bar, that of the chosen one black; full height is 1."""
        places = left + width * (np.arange(len(chances)) + 0.5) / len(chances)
        colours = [INK if place == chosen else ACCENT for place in range(len(chances))]
        floor, thick = top + height, points(0.8 * width / len(chances))
        self.page.vlines(places, floor - height * chances, floor, colours, linewidth=thick)
        self.page.hlines(floor, left, left + width, SOFT, linewidth=0.8)

    def save(self, path: Path) -> None:
        """Write the sheet; the same sheet gives the same bytes."""
        content = io.BytesIO()
        self.figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
        files.write_bytes(Path(path), content.getvalue())


def points(pixels: float) -> float:
    """A size in pixels as matplotlib counts letters."""
    return pixels * 72 / DPI
