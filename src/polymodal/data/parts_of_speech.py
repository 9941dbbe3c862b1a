"""Which words of a text are nouns and which are adjectives, by TextBlob's tagger.

The tagger is a list of English words and of endings that comes with TextBlob; it downloads nothing.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

OTHER, NOUN, ADJECTIVE = range(3)

WORD = re.compile(
    r"[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+(?:-[^\W_]+)*", re.IGNORECASE
)
"""A word as the Penn treebank has it: `man's` is two, `isn't` too, and `red-haired` is one."""


class Word(NamedTuple):
    """A word's characters [start, end) of its text, and its kind: OTHER, NOUN or ADJECTIVE."""

    start: int
    end: int
    kind: int


def words_of(texts: Sequence[str]) -> list[list[Word]]:
    """The words of some texts, without punctuation.

    >>> [(start, end, kind) for start, end, kind in words_of(["The dog's red-haired."])[0]]
    [(0, 3, 0), (4, 7, 1), (7, 9, 0), (10, 20, 2)]
    """
    tags, tagged = tagger(), []
    for text in texts:
        places = [match.span() for match in WORD.finditer(text)]
        words = [text[start:end].replace("’", "'") for start, end in places]
        words[:1] = [word.lower() for word in words[:1]]  # "Red cubes" begin with no name
        kinds = [kind_of(tag) for _, tag in tags(words)]
        tagged.append([Word(*place, kind) for place, kind in zip(places, kinds, strict=True)])
    return tagged


def kind_of(tag: str) -> int:
    """The kind of a word by its tag of the Penn treebank, names among the nouns.

    >>> kind_of("NNS"), kind_of("JJR"), kind_of("VBZ")
    (1, 2, 0)
    """
    return NOUN if tag.startswith("NN") else ADJECTIVE if tag.startswith("JJ") else OTHER


@cache
def tagger() -> Callable[[list[str]], list[Any]]:
    """TextBlob's tagger: a list of words in, a list of words with their tags out."""
    from textblob.en import parser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its list of words open
        parser.find_tags(["a"])
    find_tags: Callable[[list[str]], list[Any]] = parser.find_tags
    return find_tags
