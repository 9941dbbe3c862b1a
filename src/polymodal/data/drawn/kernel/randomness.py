"""Counter-based random numbers: each is a hash of (seed, item, stream, counter), so that any item
can be drawn by any worker in any order."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import entry, helper

ATTRIBUTES, STAGE, PLACES, CAPTIONS = 0, 1, 2, 3
"""The streams: what is drawn in one never shifts what is drawn in another."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@helper
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits: the finaliser of splitmix64 (Steele, Lea and Flood, 2014)."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@helper
def key(seed: int, item: int, stream: int) -> np.uint64:
    """The start of one stream of one item."""
    word = mix(np.uint64(seed) + GOLDEN)
    word = mix(word + np.uint64(item) * GOLDEN)
    return mix(word + np.uint64(stream) * GOLDEN)


@helper
def uniform(start: np.uint64, counter: int) -> float:
    """The number at `counter` of a stream, in [0, 1) with 53 bits."""
    word = mix(start + np.uint64(counter + 1) * GOLDEN)
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@helper
def below(start: np.uint64, counter: int, count: int) -> int:
    """The number at `counter` of a stream, a whole one in [0, count)."""
    return min(int(uniform(start, counter) * count), count - 1)


@entry
def uniforms(seed: int, item: int, stream: int, count: int) -> np.ndarray:
    """The first `count` numbers of a stream."""
    start = key(seed, item, stream)
    numbers = np.empty(count)
    for counter in range(count):
        numbers[counter] = uniform(start, counter)
    return numbers
