"""Files read beside each other: in order, and no further than is asked for."""

import time

import pytest

from polymodal.data.side_by_side import each_read


def test_what_is_read_keeps_its_order() -> None:
    with each_read(lambda n: n * n, range(20), "Squares", progress=False) as found:
        assert list(found) == [(n, n * n) for n in range(20)]
    with each_read(lambda n: n, [], "Nothing", progress=False) as none:
        assert list(none) == []


def test_an_error_stops_what_has_not_begun() -> None:
    begun = []

    def read(n: int) -> int:
        begun.append(n)
        if n:
            time.sleep(0.05)
        return n

    with (
        pytest.raises(ValueError, match="bad file"),
        each_read(read, range(1000), "Numbers", progress=False) as found,
    ):
        for n, _ in found:
            raise ValueError(f"bad file {n}")
    assert len(begun) < 1000
