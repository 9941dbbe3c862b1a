"""Lists of words: their order, and the number of each, which is its place."""

from collections import Counter
from collections.abc import Sequence

from polymodal.base.errors import PolymodalError


def by_frequency(counts: Counter[str], min_count: int = 1) -> list[str]:
    """Words, frequent ones first, equally frequent ones by alphabet; rarer ones are left out.

    >>> by_frequency(Counter(["b", "a", "c", "c"])), by_frequency(Counter("abb"), min_count=2)
    (['c', 'a', 'b'], ['b'])
    """
    kept = [word for word, count in counts.items() if count >= min_count]
    return sorted(kept, key=lambda word: (-counts[word], word))


def numbers_of(words: Sequence[str], hold: str) -> dict[str, int]:
    """The number of each word, none of which may be there twice; `hold` begins the message.

    >>> numbers_of(["red", "blue"], "The words hold")
    {'red': 0, 'blue': 1}
    """
    numbers = {word: number for number, word in enumerate(words)}
    if len(numbers) != len(words):
        twice = next(word for number, word in enumerate(words) if numbers[word] != number)
        raise PolymodalError(f"{hold} {twice!r} twice.")
    return numbers
