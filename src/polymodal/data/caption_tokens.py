"""Captions as tokens of a language model that know their characters, their words and their kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Int
from torch import Tensor

from polymodal.data.batches import Batch
from polymodal.data.parts_of_speech import OTHER, Word, words_of
from polymodal.data.tokens import Tokens, table


@dataclass(frozen=True)
class CaptionTokens(Batch):
    """n captions of up to t tokens."""

    tokens: Int[Tensor, "n t"]
    lengths: Int[Tensor, " n"]
    starts: Int[Tensor, "n t"]
    """The character where each token begins; 0 for special tokens and padding."""
    ends: Int[Tensor, "n t"]
    """The character after each token; 0 for special tokens and padding."""
    kinds: Int[Tensor, "n t"]
    """The kind of the word that each token is part of: `parts_of_speech`' OTHER, NOUN or ADJECTIVE."""
    words: Int[Tensor, "n t"]
    """The number of that word in its caption; -1 for punctuation, special tokens and padding."""


def read_captions(texts: Sequence[str], description: Mapping[str, Any]) -> CaptionTokens:
    """Captions as a described language model reads them."""
    reader = Tokens.of(description)
    read = reader.read(texts)
    tokens, lengths = reader.padded(read)
    marks = {*description["special"]} - {description["unknown"]}  # an unknown word is a word
    spoken = words_of(texts)
    rows = [
        word_numbers(encoding, words, len(text), marks)
        for encoding, words, text in zip(read, spoken, texts, strict=True)
    ]
    kinds = [
        [words[number].kind if number >= 0 else OTHER for number in numbers]
        for numbers, words in zip(rows, spoken, strict=True)
    ]
    wide = tokens.shape[1]
    return CaptionTokens(
        tokens,
        lengths,
        table([[start for start, _ in encoding.offsets] for encoding in read], wide, 0),
        table([[end for _, end in encoding.offsets] for encoding in read], wide, 0),
        table(kinds, wide, OTHER),
        table(rows, wide, -1),
    )


def word_numbers(encoding: Any, words: Sequence[Word], length: int, marks: set[int]) -> list[int]:
    """Which word of its text each token is part of; special tokens are of none, even if a text spells
    them."""
    at = [-1] * length
    for number, word in enumerate(words):
        at[word.start : word.end] = [number] * (word.end - word.start)
    return [
        -1 if token in marks else max(at[start:end], default=-1)
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
    ]
