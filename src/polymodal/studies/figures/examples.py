"""Examples beside each other under headings: images with their texts, pictures over word histograms."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Int
from torch import Tensor

from polymodal.data.fixed_words import Words
from polymodal.studies.figures.figure_texts import lines_of, relation_place, spelled
from polymodal.studies.figures.inference import Inferred, Told
from polymodal.studies.figures.pixel_sheet import (
    HEAD,
    MARGIN,
    PLAIN,
    SMALL,
    SOFT,
    WIDTH,
    Sheet,
    Word,
)
from polymodal.systems.vlvae.generation import pictures

SHOWN, GUTTER = 2, 64
"""Examples beside each other, and the pixels between them."""

COLUMN = (WIDTH - 2 * MARGIN - (SHOWN - 1) * GUTTER) / SHOWN
LEFTS = [MARGIN + k * (COLUMN + GUTTER) for k in range(SHOWN)]

SIDE, GAP, LINE = 168, 26, 34
"""The heights of a picture, of what is left free under it, of a line of text."""

KEY = "bars: the chance of every word at its place; black, the word drawn, which stands above; blue, others"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading over images as they were given, over what a model told, or over both."""

    title: str
    note: str = ""
    given: Inferred | None = None
    told: Told | None = None
    read: Int[Tensor, "b t"] | None = None
    """What a judge reads in the pictures told."""

    @property
    def height(self) -> int:
        """Its pixels on a sheet."""
        rows = (self.given is not None) + (self.told is not None)
        return HEAD + rows * (SIDE + GAP) + (LINE if self.read is not None else 0)


def draw(blocks: Sequence[Block], words: Words, out: Path) -> None:
    """Write a sheet of blocks under each other."""
    top = 16
    sheet = Sheet(top + sum(block.height for block in blocks) + LINE)
    for block in blocks:
        sheet.head(block.title, top, block.note)
        below = top + HEAD
        if block.given is not None:
            draw_given(sheet, block.given, words, below)
            below += SIDE + GAP
        if block.told is not None:
            draw_told(sheet, block.told, words, below)
        if block.read is not None and block.told is not None:
            draw_read(sheet, block.told, block.read, words, below + SIDE + 10)
        top += block.height
    sheet.write(KEY, MARGIN, top, size=SMALL, colour=SOFT)
    sheet.save(out)


def draw_given(sheet: Sheet, given: Inferred, words: Words, top: float) -> None:
    """Images, each with its text beside it."""
    images = given.images.permute(0, 2, 3, 1).cpu().numpy()
    for left, image, text in zip(LEFTS, images, spelled(words, given.texts), strict=False):
        sheet.picture(image, left, top, SIDE)
        lines = lines_of([Word(word) for word in text], relation_place(text))
        middle = top + (SIDE - 1.5 * PLAIN * len(lines)) / 2
        sheet.spell(lines, left + SIDE + 28, middle, size=PLAIN)


def draw_told(sheet: Sheet, told: Told, words: Words, top: float) -> None:
    """Pictures, beside each the words said of it in two rows, above their distributions."""
    across = -(-words.length // 2)
    room = (COLUMN - SIDE - 28) / across
    chances, chosen = told.chances.cpu().numpy(), told.texts.tolist()
    for k, (left, image) in enumerate(zip(LEFTS, pictures(told.pictures[:SHOWN]), strict=False)):
        sheet.picture(image, left, top, SIDE)
        for place, number in enumerate(chosen[k]):
            row, column = divmod(place, across)
            x, y = left + SIDE + 28 + column * room, top + row * (SIDE + 8) / 2
            sheet.write(words.words[number], x, y - 2, size=SMALL)
            sheet.histogram(chances[k, place], number, x, y + 26, room - 16, SIDE / 2 - 34)


def draw_read(sheet: Sheet, told: Told, read: Int[Tensor, "b t"], words: Words, top: float) -> None:
    """What a judge reads in each picture, marked where the model said something else."""
    pairs = zip(spelled(words, told.texts), spelled(words, read), strict=True)
    for left, (said, seen) in zip(LEFTS, pairs, strict=False):
        found = [Word(b, a != b) for a, b in zip(said, seen, strict=True)]
        sheet.spell([[Word("judge:"), *found]], left, top, size=SMALL, colour=SOFT)
