"""Noun phrases: words that pick out objects of a scene, and the spans they take in a sentence.

A phrase names precisely the objects of the scene that fit all of its words; 'a red cube' is only
said where there is one red cube, and 'two red cubes' where there are two.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.scenes.attributes import KINDS
from polymodal.data.records import Caption, Phrase

T = TypeVar("T")

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SYNONYMS = {
    "small": ("small", "small", "tiny"),
    "large": ("large", "large", "big"),
    "rubber": ("rubber", "rubber", "matte"),
    "metal": ("metal", "metal", "shiny"),
    "sphere": ("sphere", "sphere", "ball"),
    "cube": ("cube", "cube", "block"),
}
"""Each word as often as it is said."""

ALL = (0, 1, 2, 3)
SUBSETS = tuple(some for count in (1, 2, 3, 4) for some in combinations(ALL, count))
"""Which attributes a phrase may say: the columns of size, colour, material and shape."""

SHAPE = list(KINDS).index("shape")

Words = tuple[str, str, str, str]
Noun = tuple[str, tuple[int, ...]]
"""The text of a phrase and the objects that it names."""


class Chance:
    """The random choices of one item's captions, in order."""

    def __init__(self, root: int, item: int) -> None:
        self._numbers = self._stream(root, item)

    @staticmethod
    def _stream(root: int, item: int) -> Iterator[float]:
        done, ready = 0, 64
        while True:
            yield from randomness.uniforms(root, item, randomness.CAPTIONS, ready)[done:].tolist()
            done, ready = ready, 2 * ready

    def below(self, count: int) -> int:
        """A whole number in [0, count)."""
        return min(int(next(self._numbers) * count), count - 1)

    def pick(self, some: Sequence[T]) -> T:
        """One of some things, each as likely."""
        return some[self.below(len(some))]


@dataclass(frozen=True)
class Cast:
    """Who is in a scene: each object's words, and the order from left and from the front."""

    words: tuple[Words, ...]
    aside: tuple[float, ...]
    ahead: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.words)

    def fitting(self, k: int, kinds: tuple[int, ...]) -> tuple[int, ...]:
        """The objects that are like k in some attributes, k among them."""
        mine = self.words[k]
        return tuple(
            j for j, other in enumerate(self.words) if all(other[a] == mine[a] for a in kinds)
        )

    def groups(self, among: Sequence[int], kinds: tuple[int, ...]) -> list[tuple[int, ...]] | None:
        """Objects alike in some attributes, or None where an object outside is like one of them."""
        alike_groups: list[tuple[int, ...]] = []
        for k in among:
            alike = self.fitting(k, kinds)
            if not set(alike) <= set(among):
                return None
            if alike not in alike_groups:
                alike_groups.append(alike)
        return alike_groups

    def order(self, edge: str) -> list[int]:
        """The objects from one edge on: leftmost, rightmost, frontmost or rearmost first."""
        place = self.aside if edge in ("leftmost", "rightmost") else self.ahead
        away = -1.0 if edge in ("rightmost", "rearmost") else 1.0
        return sorted(range(len(self)), key=lambda k: away * place[k])


EDGES = ("leftmost", "rightmost", "frontmost", "rearmost")


def noun(cast: Cast, objects: tuple[int, ...], kinds: tuple[int, ...], chance: Chance) -> str:
    """Words for objects that are alike in some attributes: 'large red cubes', 'shiny thing'."""
    alike = cast.words[objects[0]]
    said = [chance.pick(SYNONYMS.get(alike[a], (alike[a],))) for a in kinds if a != SHAPE]
    head = alike[SHAPE] if SHAPE in kinds else chance.pick(("object", "thing"))
    head = chance.pick(SYNONYMS.get(head, (head,)))
    return " ".join([*said, head if len(objects) == 1 else head + "s"])


def some(cast: Cast, objects: tuple[int, ...], kinds: tuple[int, ...], chance: Chance) -> Noun:
    """'a red cube', 'two shiny things'."""
    text = noun(cast, objects, kinds, chance)
    if len(objects) > 1:
        return f"{NUMBERS[len(objects)]} {text}", objects
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}", objects


@dataclass(frozen=True)
class Name:
    """Words that fit one object alone, their indefinite article, and the attributes they say."""

    k: int
    article: str
    text: str
    kinds: tuple[int, ...]

    def a(self) -> Noun:
        """'a red cube', 'the leftmost red cube'."""
        return f"{self.article} {self.text}", (self.k,)

    def the(self) -> Noun:
        """'the red cube'."""
        return f"the {self.text}", (self.k,)


def single_out(cast: Cast, k: int, chance: Chance) -> Name | None:
    """Words that fit object k alone, or None where it has none of its own.

    An object that others equal in every attribute can still be the leftmost of them, say.
    """
    ways = [kinds for kinds in SUBSETS if cast.fitting(k, kinds) == (k,)]
    if ways:
        kinds = chance.pick(ways)
        text = noun(cast, (k,), kinds, chance)
        return Name(k, "an" if text[0] in "aeiou" else "a", text, kinds)
    twins = cast.fitting(k, ALL)
    edges = [edge for edge in EDGES if next(j for j in cast.order(edge) if j in twins) == k]
    if not edges:
        return None
    return Name(k, "the", f"{chance.pick(edges)} {noun(cast, (k,), ALL, chance)}", ALL)


def sentence(extent: str, *parts: str | Noun) -> Caption:
    """A caption of plain words and noun phrases, with each phrase's place in it."""
    text, phrases = "", []
    for part in parts:
        words = part if isinstance(part, str) else part[0]
        if not isinstance(part, str):
            phrases.append(Phrase(len(text), len(text) + len(words), part[1]))
        text += words
    return Caption(text[0].upper() + text[1:], extent, tuple(phrases))


def listed(nouns: Sequence[Noun]) -> list[str | Noun]:
    """Phrases in a row: 'a cube, two balls and a cylinder'."""
    parts: list[str | Noun] = []
    for place, one in enumerate(nouns):
        if place:
            parts.append(" and " if place == len(nouns) - 1 else ", ")
        parts.append(one)
    return parts
