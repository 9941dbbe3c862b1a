"""Whole words and their numbers, for texts of one fixed length: what an image–text VAE says (004, §5.2)."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Int, Int64
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.word_lists import by_frequency, numbers_of

BLANK = "-"
"""The word of a place where nothing is said; always number 0."""


def spoken(text: str) -> list[str]:
    """The words of a text: in lower case, apart by spaces, without punctuation at their ends.

    >>> spoken("Male, Bushy_Eyebrows - .")
    ['male', 'bushy_eyebrows', '-']
    """
    words = unicodedata.normalize("NFC", text).lower().split()
    return [word for word in (word.strip(".,;:!?") for word in words) if word]


@dataclass(frozen=True, kw_only=True)
class Words:
    """A fixed list of words, the blank first, and the length of every text.

    >>> words = Words.of(["Smiling Male", "male bangs", "female"])
    >>> words.words, words.length
    (('-', 'male', 'bangs', 'female', 'smiling'), 2)
    >>> words.encode(["Male", "smiling female"]).tolist()
    [[1, 0], [4, 3]]
    >>> words.decode(torch.tensor([[0, 1], [4, 3]]))
    ['male', 'smiling female']
    """

    words: tuple[str, ...]
    length: int
    """Words of a text; shorter texts end in blanks."""
    shortest: int = 1
    """Words of the shortest training text: of a shorter one nothing was learned."""
    example: str = field(default="", compare=False)
    """A training text, for whoever does not know how they are put."""

    def __post_init__(self) -> None:
        if self.words[:1] != (BLANK,) or len(self.words) < 2:
            raise PolymodalError(f"Words must be the blank {BLANK!r} and at least one more.")
        for word in self.words:
            if spoken(word) != [word]:
                raise PolymodalError(
                    f"{word!r} is not one word: lower case, no spaces, no punctuation at its ends."
                )
        _ = self.numbers  # which refuses a word that is there twice
        if not 1 <= self.shortest <= self.length:
            raise PolymodalError(
                "The shortest text has 1 word or more, and no more than the longest; found "
                f"{self.shortest} and {self.length}."
            )

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Words":
        """Every word of the texts, frequent ones first, equally frequent ones by alphabet.

        Args:
            texts: those of the training split; the longest of them gives the length.
        """
        texts = list(texts)
        said = [spoken(text) for text in texts]
        counts = Counter(word for words in said for word in words if word != BLANK)
        if not counts:
            raise PolymodalError("The training texts hold no word. Check the captions.")
        lengths = [len(words) for words in said]
        longest = max(lengths)
        return cls(
            words=(BLANK, *by_frequency(counts)),
            length=longest,
            shortest=max(1, min(lengths)),
            example=texts[lengths.index(longest)],
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Each word's place in the list."""
        return numbers_of(self.words, "The words hold")

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, texts: Sequence[str]) -> Int64[Tensor, "n t"]:
        """The numbers of the words of each text, blanks after them."""
        rows = [self._row(text) for text in texts]
        return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), self.length)

    def _row(self, text: str) -> list[int]:
        said = spoken(text)
        if not set(said) - {BLANK}:
            raise PolymodalError(f"The text {text!r} is empty. Say a word at least. {self._known}")
        for word in said:
            if word not in self.numbers:
                wrong = unknown("word", word, self.words[1:])
                raise PolymodalError(f"In the text {text!r}: {wrong}{self._such}")
        if len(said) > self.length:
            raise PolymodalError(
                f"The text {text!r} has {len(said)} words, but there is room for {self.length}. "
                f"Say less. {self._known}"
            )
        return [self.numbers[word] for word in said] + [0] * (self.length - len(said))

    @property
    def _known(self) -> str:
        return f"The words are: {', '.join(self.words[1:])}.{self._such}"

    @property
    def _such(self) -> str:
        return f" A text is like {self.example!r}." if self.example else ""

    def check(self, text: str) -> None:
        """Refuse a text that is shorter than any that was learned from."""
        said = len(spoken(text))
        if said < self.shortest:
            raise PolymodalError(
                f"The text {text!r} has {said} words, but the shortest that was learned from has "
                f"{self.shortest}. Say more. {self._known}"
            )

    def decode(self, ids: Int[Tensor, "n t"]) -> list[str]:
        """The words of each row of numbers, without the blanks."""
        return [" ".join(self.words[number] for number in row if number) for row in ids.tolist()]

    def as_json(self) -> dict[str, Any]:
        """What `from_json` makes the same words of, for a run to keep."""
        lengths = {"length": self.length, "shortest": self.shortest}
        return {"words": list(self.words), **lengths, "example": self.example}

    @classmethod
    def from_json(cls, content: Any) -> "Words":
        """The words that `as_json` wrote."""
        try:
            lengths = {name: int(content[name]) for name in ("length", "shortest")}
            return cls(
                words=tuple(content["words"]), **lengths, example=str(content.get("example", ""))
            )
        except (KeyError, TypeError, ValueError, PolymodalError) as error:
            raise PolymodalError(
                f"The words of a run cannot be read ({error}). Copy the whole run again."
            ) from error
