"""How long a device is busy, where kernels run beside each other."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def covered(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import timing

    yield timing.covered
    sys.modules.pop("timing")


def test_what_overlaps_is_counted_once(covered):
    assert covered([(3, 4), (0, 2), (1, 2.5)]) == 3.5


def test_what_lies_within_another_adds_nothing(covered):
    assert covered([(0, 10), (2, 3), (4, 5)]) == 10


def test_nothing_lasts_no_time(covered):
    assert covered([]) == 0
