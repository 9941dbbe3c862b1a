"""Of which scenes is a caption true? Many are true of more than the one that they were written for.

A caption is true of a scene if our writer could have said it there, in the sense of `phrases`: a
phrase names exactly the objects that fit its words, as many as it says. So

- whole: the phrases name every object of the scene, and each has its number;
- part: as many objects fit as the phrase says; those listed after a colon are all among them; and
  those at an edge ('furthest left are …') are the ones that stand there;
- object: one object fits, and is what is said of it; 'the leftmost red cube' needs two red cubes;
- relation: one object fits each phrase, and the first stands so to the second.

Objects are bits of a number, so that one caption is held against thousands of scenes at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, UInt16

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes.attributes import KINDS, RELATIONS
from polymodal.data.drawn.scenes.scene_captions import SIDE, WHERE
from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.drawn.scenes.scene_phrases import EDGES, NUMBERS, SYNONYMS
from polymodal.data.drawn.scenes.world_spec import MOST
from polymodal.data.records import Caption

Bits = UInt16[np.ndarray, " n"]
"""For each scene some of its objects, a bit each."""

TRAITS = {word: 1 << k for k, word in enumerate(w for kind in KINDS.values() for w in kind)}
"""A bit for each attribute that an object can have."""

SAID = {said: TRAITS[word] for word in TRAITS for said in SYNONYMS.get(word, (word,))}
SAID |= {f"{word}s": bit for word, bit in SAID.items()}
SAID |= dict.fromkeys(("object", "objects", "thing", "things"), 0)
"""What each word says of an object; its kind alone says nothing."""

PLACES = np.zeros(2**MOST, np.intp)
PLACES[1 << np.arange(MOST)] = np.arange(MOST)
"""Which object a single bit is."""


@dataclass(frozen=True)
class Noun:
    """So many objects with these traits: all that there are, or the first of them from an edge."""

    count: int
    traits: int = 0
    edge: str | None = None


@dataclass(frozen=True)
class Claim:
    """What a caption says."""

    nouns: tuple[Noun, ...]
    within: Noun | None = None
    """Those among which all of the nouns' objects are."""
    also: int = 0
    """Traits that the first noun's object has beside."""
    relation: str | None = None
    """How the first noun's object stands to the second's."""


class Scenes:
    """The objects of many scenes as bits."""

    def __init__(self, layouts: Iterable[Layout]) -> None:
        bodies = [layout.bodies for layout in layouts]
        self.traits = np.zeros((len(bodies), MOST), np.uint16)
        self.places = np.full((len(bodies), MOST, 2), np.inf)
        starts = np.cumsum([0, *(len(kind) for kind in KINDS.values())])[:-1]
        for row, body in enumerate(bodies):
            codes = body[:, :4].astype(np.intp) + starts
            self.traits[row, : len(body)] = (1 << codes).sum(1)
            self.places[row, : len(body)] = body[:, [geometry.ASIDE, geometry.AHEAD]]
        self._fitting: dict[int, Bits] = {}

    def __len__(self) -> int:
        return len(self.traits)

    def true(self, claim: Claim) -> Bool[np.ndarray, " n"]:
        """The scenes of which a claim is true."""
        named = [self.named(noun) for noun in claim.nouns]
        holds = np.logical_and.reduce([bits != 0 for bits in named])
        if claim.within:
            room = self.named(claim.within)
            holds &= np.bitwise_or.reduce(named) & ~room == 0
        if claim.also:
            holds &= named[0] & ~self.fitting(claim.also) == 0
        if claim.relation:
            beyond = self.beyond[claim.relation][np.arange(len(self)), PLACES[named[0]]]
            holds &= beyond & named[1] != 0
        return holds

    def named(self, noun: Noun) -> Bits:
        """The objects that a noun names in each scene; none where it cannot be said."""
        fitting = self.fitting(noun.traits)
        there = np.bitwise_count(fitting)
        if noun.edge is None:
            return np.where(there == noun.count, fitting, 0).astype(np.uint16)
        order = self.orders[noun.edge]
        fits = fitting[:, None] >> order & 1
        first = fits * (np.cumsum(fits, 1) <= noun.count) << order
        return np.where(there > noun.count, first.sum(1), 0).astype(np.uint16)

    def fitting(self, traits: int) -> Bits:
        """The objects that have some traits; all objects where there are none."""
        if traits not in self._fitting:
            has = (self.traits & traits == traits) & (self.traits != 0)
            self._fitting[traits] = (has << np.arange(MOST)).sum(1).astype(np.uint16)
        return self._fitting[traits]

    @cached_property
    def orders(self) -> dict[str, np.ndarray]:
        """The objects of each scene from each edge on; places that are empty come last."""
        aside, ahead = np.moveaxis(self.places, 2, 0)
        empty = np.isinf(aside)
        ways = {"leftmost": aside, "rightmost": -aside, "frontmost": ahead, "rearmost": -ahead}
        return {
            edge: np.where(empty, np.inf, ways[edge]).argsort(1, kind="stable").astype(np.uint16)
            for edge in EDGES
        }

    @cached_property
    def beyond(self) -> dict[str, np.ndarray]:
        """For each relation and object a of each scene, the objects b such that 'a is so to b'."""
        a, b = self.places[:, :, None], self.places[:, None, :]
        both = (self.traits != 0)[:, :, None] & (self.traits != 0)[:, None, :]
        less, more = a < b, a > b
        pairs = {
            "left": less[..., 0], "right": more[..., 0],
            "front": less[..., 1], "behind": more[..., 1],
        }  # fmt: skip
        bits = 1 << np.arange(MOST, dtype=np.uint16)
        return {name: ((pairs[name] & both) * bits).sum(2, dtype=np.uint16) for name in RELATIONS}


def claim(caption: Caption) -> Claim:
    """What a caption of the world 'scenes' says."""
    text = caption.text.lower()
    try:
        nouns = tuple(noun(text[p.start : p.end].split()) for p in caption.phrases)
        first, last = caption.phrases[0], caption.phrases[-1]
        before, after = text[: first.start], text[last.end :]
        if caption.extent == "relation":
            return related(nouns, before, text[first.end : last.start])
        if caption.extent == "object":
            said = after.rstrip(".").split()
            return Claim(nouns, also=SAID[said[-1]] if said else 0)
        if len(nouns) > 1 and text[first.end : caption.phrases[1].start] in (": ", " are "):
            return Claim(nouns[1:], within=nouns[0])
        count = sum(one.count for one in nouns)
        if caption.extent == "whole":
            return Claim(nouns, within=Noun(count))
        edges = {start.lower(): edge for edge, start in SIDE.items()}
        start = before.removesuffix(" are ")
        return Claim(nouns, within=Noun(count, edge=edges[start]) if start in edges else None)
    except (KeyError, IndexError) as error:
        raise PolymodalError(
            f"{caption.text!r} is no caption that the world 'scenes' writes, so it cannot be told of "
            "which scenes it is true."
        ) from error


def noun(words: list[str]) -> Noun:
    """What a phrase says: 'the two leftmost objects', 'a tiny red ball'."""
    count, edge, traits = 1, None, 0
    for word in words:
        if word in NUMBERS:
            count = NUMBERS.index(word)
        elif word in EDGES:
            edge = word
        elif word not in ("a", "an", "the"):
            traits |= SAID[word]
    return Noun(count, traits, edge)


def related(nouns: tuple[Noun, ...], before: str, between: str) -> Claim:
    """'The A is left of the B', 'there is an A left of the B', or 'left of the B is an A'."""
    relations = {said: relation for relation, ways in WHERE.items() for said in ways}
    if before.strip() in relations:
        return Claim(nouns[::-1], relation=relations[before.strip()])
    said = between.strip().removeprefix("is ").removeprefix("stands ")
    return Claim(nouns, relation=relations[said])


def truth(
    layouts: Iterable[Layout], captions: Sequence[Caption]
) -> Callable[[slice], Bool[np.ndarray, "b n"]]:
    """Of which scenes captions of the world 'scenes' are true, by rows of captions."""
    scenes, claims = Scenes(layouts), [claim(caption) for caption in captions]
    return lambda rows: np.stack([scenes.true(one) for one in claims[rows]])
