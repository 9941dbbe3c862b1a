"""Images of given texts, from q_agg(z|y) and q_true(z|y) side by side (004, Fig. 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Images
from polymodal.metrics.estimates import mean
from polymodal.studies.figures.figure_texts import contradictions, lines_of, relation_place, spelled
from polymodal.studies.figures.pixel_sheet import HEAD, MARGIN, PLAIN, SMALL, WIDTH, Sheet, Word
from polymodal.systems.vlvae.generation import pictures
from polymodal.systems.vlvae.seeded import seeded
from polymodal.systems.vlvae.vlvae_module import VLVAE

Kind = Literal["aggregate", "true"]

HALVES: dict[Kind, str] = {"aggregate": "Agg", "true": "True"}
"""What the paper calls either posterior."""

SHOWN, MEASURED = 4, 100
"""Samples of each text that are shown, and that are counted for the numbers."""

LABEL, BETWEEN, SIDE, LINE = 190, 40, 150, 24
"""The width of the given texts, of the space between the halves, of an image; a line's height."""

COLUMN = (WIDTH - 2 * MARGIN - LABEL - BETWEEN) / (2 * SHOWN)


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Images of one text, and the words that the model has for them and for more samples."""

    images: Images
    words: list[list[Word]]
    """The likeliest words for each z; those that contradict the text are marked."""

    @property
    def agreement(self) -> float:
        """The percentage of the words that do not contradict the text."""
        words = [word for one in self.words for word in one]
        return 100 * sum(not word.marked for word in words) / len(words)


def figure4(system: VLVAE, texts: Sequence[str], out: Path) -> dict[str, float]:
    """Samples for each text from both of its posteriors, with the words for each of them (004, Fig. 4).

    Words that contradict the text are marked. The numbers are how many do not, in percent: the model's
    own words for z, not what a judge reads in its images.
    """
    if not texts:
        raise PolymodalError("Figure 4 needs one text or more.")
    ids = system.words.encode(texts)
    for text in texts:
        system.words.check(text)
    halves = {by: [samples(system, text, by, k) for k, text in enumerate(ids)] for by in HALVES}
    draw(spelled(system.words, ids), halves, out)
    scores: dict[str, float] = {}
    for by, each in halves.items():
        shares = torch.tensor([one.agreement for one in each], dtype=torch.double)
        scores |= mean(shares).named(f"agreement_{by}")
    return scores


@torch.no_grad()
def samples(system: VLVAE, text: Int[Tensor, " t"], by: Kind, seed: int) -> Samples:
    """Draws of one posterior of a text."""
    system.eval()
    with seeded(seed, system.device):
        z = system.latents(text.expand(MEASURED, -1).to(system.device), by)
    (original,), in_order = spelled(system.words, text[None]), not system.config.shuffle
    marked = [
        [
            Word(*pair)
            for pair in zip(one, contradictions(original, one, in_order=in_order), strict=True)
        ]
        for one in spelled(system.words, system.said(z)[0])
    ]
    return Samples(images=pictures(system.imagined(z[:SHOWN])), words=marked)


def draw(texts: Sequence[Sequence[str]], halves: dict[Kind, list[Samples]], out: Path) -> None:
    """A row for each text: its words, then samples of q_agg and of q_true, each above its words."""
    labels = [lines_of([Word(w) for w in text], relation_place(text), most=2) for text in texts]
    high = SIDE + LINE * max(map(len, labels)) + 36
    sheet, top = Sheet(16 + HEAD + high * len(texts)), 16 + HEAD
    for half, (by, each) in enumerate(halves.items()):
        left = MARGIN + LABEL + half * (SHOWN * COLUMN + BETWEEN)
        right = left + (SHOWN - 1) * COLUMN + SIDE
        share = sum(one.agreement for one in each) / len(each)
        title = rf"$\mathbf{{q_{{{HALVES[by]}}}(z\,|\,y)}}$"
        sheet.head(title, 16, f"{share:.0f} % of the words agree", left=left, right=right)
        for row, (text, one) in enumerate(zip(texts, each, strict=True)):
            for k, image in enumerate(one.images):
                x, y = left + k * COLUMN, top + row * high
                sheet.picture(image, x, y, SIDE)
                lines = lines_of(one.words[k], relation_place(text), most=2)
                sheet.spell(lines, x, y + SIDE + 8, size=SMALL)
    for row, lines in enumerate(labels):
        sheet.spell(lines, MARGIN, top + row * high, size=PLAIN)
    sheet.save(out)
