"""Texts of a figure: broken at their relation word, and compared with each other."""

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
    """The position of the word that relates two objects.

    >>> relation_place(["cube", "left", "sphere"]), relation_place(["small", "red"])
    (1, None)
    """
    return next((place for place, word in enumerate(text) if word in OPPOSITES), None)


def lines_of(words: Sequence[Word], relation: int | None, *, most: int = 4) -> list[list[Word]]:
    """A text by lines of some words at most, the relation on a line of its own.

    >>> words = [Word(text) for text in ("red", "cube", "left", "sphere")]
    >>> [[word.text for word in line] for line in lines_of(words, relation=2)]
    [['red', 'cube'], ['left'], ['sphere']]
    """
    cut = len(words) if relation is None else relation
    parts = (words[:cut], words[cut : cut + 1], words[cut + 1 :])
    return [list(part[k : k + most]) for part in parts for k in range(0, len(part), most)]


def contradictions(
    text: Sequence[str], words: Sequence[str], *, in_order: bool = True
) -> list[bool]:
    """Which of the words contradict a text.

    'A left B' and 'B right A' mean the same: the order with fewer contradictions counts. A relation along
    the other axis contradicts nothing. Without an order, a word contradicts the text if it is not in it.

    >>> contradictions(["red", "left", "blue"], ["blue", "right", "green"])
    [False, False, True]
    >>> contradictions(["red", "left", "blue"], ["red", "behind", "blue"])
    [False, False, False]
    """
    if not in_order:
        return [word not in text for word in words]
    orders, place = [list(text)], relation_place(text)
    if place is not None:
        orders.append([*text[place + 1 :], OPPOSITES[text[place]], *text[:place]])
    by_order = [[contradicts(*pair) for pair in zip(order, words, strict=True)] for order in orders]
    return min(by_order, key=sum)


def contradicts(word: str, other: str) -> bool:
    """Whether one word contradicts another."""
    if word in OPPOSITES and other in OPPOSITES:
        return other == OPPOSITES[word]
    return word != other
