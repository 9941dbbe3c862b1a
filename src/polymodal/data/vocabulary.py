"""Words and their numbers, learned from the training captions alone."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polymodal.base.errors import PolymodalError
from polymodal.data.word_lists import by_frequency, numbers_of

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor

PAD, START, END, UNK = range(4)
SPECIAL = ("<pad>", "<start>", "<end>", "<unk>")

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def tokenize(text: str) -> list[str]:
    """Split a text into lower-case words and numbers of any script; punctuation is dropped.

    An apostrophe within a word stays, so that no caption can spell a special token.

    >>> tokenize("A man's dog, 2 cats & <pad>!")
    ['a', "man's", 'dog', '2', 'cats', 'pad']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text).replace("’", "'").lower())


@dataclass(frozen=True)
class Vocabulary:
    """A fixed list of words, four special ones first; the number of a word is its place in it.

    >>> vocabulary = Vocabulary.of(["A red dog.", "a red, red car"])
    >>> vocabulary.words
    ('<pad>', '<start>', '<end>', '<unk>', 'red', 'a', 'car', 'dog')
    >>> vocabulary.encode("A blue dog")
    [1, 5, 3, 7, 2]
    >>> vocabulary.decode([1, 5, 3, 7, 2, 0])
    'a <unk> dog'
    """

    words: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.words[:4] != SPECIAL:
            raise PolymodalError(f"A vocabulary must start with {', '.join(SPECIAL)}.")
        object.__setattr__(self, "_numbers", numbers_of(self.words, "The vocabulary holds"))

    @classmethod
    def of(cls, texts: Iterable[str], min_count: int = 1) -> "Vocabulary":
        """Every word of the texts, frequent ones first, equally frequent ones by alphabet.

        Args:
            texts: the captions of the training split; others would leak into the model.
            min_count: words seen less often become `<unk>`.
        """
        counts = Counter(word for text in texts for word in tokenize(text))
        words = by_frequency(counts, min_count)
        if not words:
            raise PolymodalError(
                f"No word occurs {min_count} times in the {sum(counts.values())} words of the "
                "training captions: there is no vocabulary. Check the captions, or lower min_count."
            )
        return cls((*SPECIAL, *words))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words, from `<start>` to `<end>`; unknown words are `<unk>`."""
        return [START, *(self._numbers.get(word, UNK) for word in tokenize(text)), END]

    def encode_batch(
        self, texts: Sequence[str]
    ) -> "tuple[Int64[Tensor, 'b t'], Int64[Tensor, ' b']]":
        """Encode several texts, padded with `<pad>` to the longest, and their lengths.

        >>> tokens, lengths = Vocabulary.of(["a dog"]).encode_batch(["dog", "a dog"])
        >>> tokens.tolist(), lengths.tolist()
        ([[1, 5, 2, 0], [1, 4, 5, 2]], [3, 4])
        """
        import torch

        rows = [self.encode(text) for text in texts]
        lengths = [len(row) for row in rows]
        longest = max(lengths, default=0)
        tokens = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
        return tokens.long().reshape(len(rows), longest), torch.tensor(lengths).long()

    def decode(self, numbers: Iterable[int]) -> str:
        """The words of some numbers, without padding, start and end."""
        return " ".join(self.words[n] for n in map(int, numbers) if n not in (PAD, START, END))
