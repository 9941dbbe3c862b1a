"""What a caption means in a picture: its phrases, and where each of them is."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.caption_tokens import CaptionTokens
from polymodal.data.records import Phrase

Box = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class GroundedPhrase:
    """A phrase and the regions that it attends to, the most attended first."""

    text: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    """x0, y0, x1, y1 in pixels of the picture as it was given."""
    attention: tuple[float, ...]
    entropy: float
    """Of its attention, in nats: from 0 to the logarithm of the number of regions."""

    @property
    def box(self) -> Box:
        """Where it is."""
        return self.boxes[0]


@dataclass(frozen=True, kw_only=True)
class Grounded:
    """A caption with its phrases grounded in a picture."""

    caption: str
    phrases: tuple[GroundedPhrase, ...]
    regions: int
    """Among how many regions."""
    unknown: tuple[str, ...] = ()
    """The words of the caption that the model has never seen."""

    def __iter__(self) -> Any:
        return iter(self.phrases)

    def __len__(self) -> int:
        return len(self.phrases)

    def __getitem__(self, place: int) -> GroundedPhrase:
        return self.phrases[place]

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return asdict(self)


MARKED = re.compile(r"\[([^\[\]]+)\]")


def marked(caption: str) -> tuple[str, tuple[Phrase, ...]]:
    """A caption without its square brackets, and the phrases that they enclosed.

    >>> text, phrases = marked("[a man] in a [red hat]")
    >>> text, [(phrase.start, phrase.end) for phrase in phrases]
    ('a man in a red hat', [(0, 5), (11, 18)])
    """
    text, phrases, last = "", [], 0
    for match in MARKED.finditer(caption):
        text += caption[last : match.start()]
        phrases.append(Phrase(len(text), len(text) + len(match[1]), ()))
        text += match[1]
        last = match.end()
    return text + caption[last:], tuple(phrases)


def noun_phrases(caption: str, tokens: CaptionTokens) -> tuple[Phrase, ...]:
    """Each run of adjectives and nouns that ends in a noun, with nothing but spaces between."""
    found: list[list[int]] = []
    kinds: Int[Tensor, " t"] = tokens.kinds[0]
    spans = zip(kinds.tolist(), tokens.starts[0].tolist(), tokens.ends[0].tolist(), strict=True)
    for kind, start, end in spans:
        if not kind:
            continue
        if found and not caption[found[-1][1] : start].strip():
            found[-1][1] = end
            found[-1][2] = end if kind == 1 else found[-1][2]
        else:
            found.append([start, end, end if kind == 1 else start])
    phrases = tuple(Phrase(start, noun, ()) for start, _, noun in found if noun > start)
    if not phrases:
        raise PolymodalError(
            f"No noun was found in {caption!r}. Mark what is to be found with square brackets, as in "
            "'[a man] on [the left]'."
        )
    return phrases


def grounded(
    caption: str,
    phrases: Sequence[Phrase],
    attention: Float[Tensor, "p r"],
    entropy: Float[Tensor, " p"],
    boxes: Float[Tensor, "r 4"],
    first: int,
    unknown: tuple[str, ...] = (),
) -> Grounded:
    """The regions of each phrase, the most attended first."""
    best = attention.topk(min(first, len(boxes)), 1)
    return Grounded(
        caption=caption,
        regions=len(boxes),
        unknown=unknown,
        phrases=tuple(
            GroundedPhrase(
                text=caption[phrase.start : phrase.end],
                start=phrase.start,
                end=phrase.end,
                boxes=tuple(tuple(boxes[place].tolist()) for place in places),
                attention=tuple(shares.tolist()),
                entropy=abs(unsure.item()),  # of one region it is -0
            )
            for phrase, shares, places, unsure in zip(
                phrases, best.values, best.indices, entropy, strict=True
            )
        ),
    )
