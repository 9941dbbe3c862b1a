"""Texts of a figure: broken at their relation word, and held against each other."""

from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from polymodal.data.fixed_words import Words
from polymodal.studies.figures.pixel_sheet import Word
from polymodal.systems.vlvae.judge import OPPOSITES


def spelled(words: Words, ids: Int[Tensor, "b t"]) -> list[list[str]]:
    """The words of each row of numbers, blanks too."""
    return [[words.words[number] for number in row] for row in ids.tolist()]


def relation_place(text: Sequence[str]) -> int | None:
    """Where a text says how two objects stand to each other.

    >>> relation_place(["cube", "left", "sphere"]), relation_place(["small", "red"])
    (1, None)
    """
    return next((place for place, word in enumerate(text) if word in OPPOSITES), None)


def lines_of(words: Sequence[Word], relation: int | None, *, most: int = 4) -> list[list[Word]]:
    """A text by lines of some words at most, the one at the place of the relation on its own.

    >>> words = [Word(text) for text in ("red", "cube", "left", "sphere")]
    >>> [[word.text for word in line] for line in lines_of(words, relation=2)]
    [['red', 'cube'], ['left'], ['sphere']]
    """
    cut = len(words) if relation is None else relation
    parts = (words[:cut], words[cut : cut + 1], words[cut + 1 :])
    return [list(part[k : k + most]) for part in parts for k in range(0, len(part), most)]


def wrong(told: Sequence[str], said: Sequence[str], *, in_order: bool = True) -> list[bool]:
    """Which words that were said contradict what was told.

    'A left B' and 'B right A' are one: the order that leaves fewer wrong words counts. A relation along
    the other axis contradicts nothing. Where order means nothing, a word is wrong if it was not told.

    >>> wrong(["red", "left", "blue"], ["blue", "right", "green"])
    [False, False, True]
    >>> wrong(["red", "left", "blue"], ["red", "behind", "blue"])
    [False, False, False]
    """
    if not in_order:
        return [word not in told for word in said]
    orders, place = [list(told)], relation_place(told)
    if place is not None:
        orders.append([*told[place + 1 :], OPPOSITES[told[place]], *told[:place]])
    found = [[differ(*pair) for pair in zip(order, said, strict=True)] for order in orders]
    return min(found, key=sum)


def differ(told: str, said: str) -> bool:
    """Whether one word contradicts another."""
    if told in OPPOSITES and said in OPPOSITES:
        return said == OPPOSITES[told]
    return told != said
