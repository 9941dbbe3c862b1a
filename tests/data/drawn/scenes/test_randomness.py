"""Counter-based numbers against splitmix64 written again with Python's own integers."""

import numpy as np

from polymodal.data.drawn.kernel.randomness import uniforms

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def expected(seed: int, item: int, stream: int, counter: int) -> float:
    word = mix(seed + GOLDEN & MASK)
    word = mix(word + item * GOLDEN & MASK)
    word = mix(word + stream * GOLDEN & MASK)
    return (mix(word + (counter + 1) * GOLDEN & MASK) >> 11) / 2**53


def test_numbers_are_splitmix64() -> None:
    for seed, item, stream in ((0, 0, 0), (7, 123456, 3), (2**62 + 5, 1, 2)):
        numbers = uniforms(seed, item, stream, 5)
        assert numbers.tolist() == [expected(seed, item, stream, c) for c in range(5)]


def test_numbers_are_even_and_streams_unlike() -> None:
    one, other = uniforms(0, 1, 0, 20_000), uniforms(0, 1, 1, 20_000)
    assert one.min() >= 0 and one.max() < 1
    assert abs(one.mean() - 0.5) < 0.01 and abs(one.var() - 1 / 12) < 0.005
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    assert np.array_equal(uniforms(0, 1, 0, 10), one[:10])
