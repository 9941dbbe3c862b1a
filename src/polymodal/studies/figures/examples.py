"""Examples side by side under headings: images with their texts, or generated images with word histograms."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Int
from torch import Tensor

from polymodal.data.fixed_words import Words
from polymodal.studies.figures.figure_texts import lines_of, relation_place, spelled
from polymodal.studies.figures.inference import Decoded, Inferred
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
"""The heights of an image, of the space under it, of a line of text."""

KEY = "bars: the chance of every word at its place; black, the word drawn, which stands above; blue, others"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading over input images, over decoded ones, or over both."""

    title: str
    note: str = ""
    inputs: Inferred | None = None
    decoded: Decoded | None = None
    read: Int[Tensor, "b t"] | None = None
    """The words that a judge reads in the decoded images."""

    @property
    def height(self) -> int:
        """Its pixels on a sheet."""
        rows = (self.inputs is not None) + (self.decoded is not None)
        return HEAD + rows * (SIDE + GAP) + (LINE if self.read is not None else 0)


def draw(blocks: Sequence[Block], words: Words, out: Path) -> None:
    """Write a sheet of blocks under each other."""
    top = 16
    sheet = Sheet(top + sum(block.height for block in blocks) + LINE)
    for block in blocks:
        sheet.head(block.title, top, block.note)
        below = top + HEAD
        if block.inputs is not None:
            draw_inputs(sheet, block.inputs, words, below)
            below += SIDE + GAP
        if block.decoded is not None:
            draw_decoded(sheet, block.decoded, words, below)
        if block.read is not None and block.decoded is not None:
            draw_read(sheet, block.decoded, block.read, words, below + SIDE + 10)
        top += block.height
    sheet.write(KEY, MARGIN, top, size=SMALL, colour=SOFT)
    sheet.save(out)


def draw_inputs(sheet: Sheet, inputs: Inferred, words: Words, top: float) -> None:
    """Images, each with its text beside it."""
    images = inputs.images.permute(0, 2, 3, 1).cpu().numpy()
    for left, image, text in zip(LEFTS, images, spelled(words, inputs.texts), strict=False):
        sheet.picture(image, left, top, SIDE)
        lines = lines_of([Word(word) for word in text], relation_place(text))
        middle = top + (SIDE - 1.5 * PLAIN * len(lines)) / 2
        sheet.spell(lines, left + SIDE + 28, middle, size=PLAIN)


def draw_decoded(sheet: Sheet, decoded: Decoded, words: Words, top: float) -> None:
    """Images, each beside its sampled words in two rows, above their distributions."""
    across = -(-words.length // 2)
    room = (COLUMN - SIDE - 28) / across
    probabilities, sampled = decoded.probabilities.cpu().numpy(), decoded.texts.tolist()
    for k, (left, image) in enumerate(zip(LEFTS, pictures(decoded.images[:SHOWN]), strict=False)):
        sheet.picture(image, left, top, SIDE)
        for place, number in enumerate(sampled[k]):
            row, column = divmod(place, across)
            x, y = left + SIDE + 28 + column * room, top + row * (SIDE + 8) / 2
            sheet.write(words.words[number], x, y - 2, size=SMALL)
            sheet.histogram(probabilities[k, place], number, x, y + 26, room - 16, SIDE / 2 - 34)


def draw_read(
    sheet: Sheet, decoded: Decoded, read: Int[Tensor, "b t"], words: Words, top: float
) -> None:
    """The words that a judge reads in each image, marked where the model's words differ."""
    pairs = zip(spelled(words, decoded.texts), spelled(words, read), strict=True)
    for left, (sampled, judged) in zip(LEFTS, pairs, strict=False):
        marked = [Word(b, a != b) for a, b in zip(sampled, judged, strict=True)]
        sheet.spell([[Word("judge:"), *marked]], left, top, size=SMALL, colour=SOFT)
