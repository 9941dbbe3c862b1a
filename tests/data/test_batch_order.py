"""Which examples come when, alone and shared; batches made ahead on a thread."""

import threading
import time

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.batch_order import Batches, Order, ahead


class Numbers:
    """Example i is the number i."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def batch(self, indices: np.ndarray) -> list[int]:
        return indices.tolist()


ORDER = Order(examples=23, batch_size=4, seed=5)


def batches(first: int = 0, last: int = 12, rank: int = 0, world: int = 1) -> list[list[int]]:
    return list(Batches(Numbers(23), ORDER, first=first, last=last, rank=rank, world=world))


@pytest.mark.parametrize("epoch", [0, 1, 7])
def test_an_epoch_is_a_permutation_without_its_short_tail(epoch):
    assert ORDER.steps_per_epoch == 5
    seen = np.concatenate([ORDER.at(5 * epoch + place) for place in range(5)])
    shuffle = ORDER.shuffle(epoch)
    assert sorted(shuffle.tolist()) == list(range(23))
    assert seen.tolist() == shuffle[:20].tolist()


def test_epochs_and_seeds_shuffle_differently():
    other = Order(examples=23, batch_size=4, seed=6)
    shuffles = {tuple(order.shuffle(e).tolist()) for order in (ORDER, other) for e in range(3)}
    assert len(shuffles) == 6


def test_batches_are_those_of_the_order():
    assert batches() == [ORDER.at(step).tolist() for step in range(12)]


def test_two_processes_share_the_batch_of_one():
    halves = zip(batches(rank=0, world=2), batches(rank=1, world=2), strict=True)
    assert [a + b for a, b in halves] == batches()


@pytest.mark.parametrize("first", [1, 5, 8, 12])
def test_starting_late_equals_skipping(first):
    assert batches(first=first) == batches()[first:]


def test_too_little_data_says_what_to_give():
    with pytest.raises(PolymodalError, match=r"has 5 examples, fewer than one batch of 8\. Give "
                       r"--batch-size 5 or less"):  # fmt: skip
        Order(examples=5, batch_size=8, seed=0)
    with pytest.raises(PolymodalError, match="batch of 1 has no negatives"):
        Order(examples=5, batch_size=1, seed=0)


def test_a_batch_that_cannot_be_shared():
    with pytest.raises(PolymodalError, match="batch of 4 cannot be shared by 3 processes"):
        batches(world=3)


def test_ahead_gives_the_same_items_in_order():
    assert list(ahead(iter(range(50)))) == list(range(50))
    assert list(ahead(iter([]))) == []


def test_ahead_passes_errors_on_after_the_items_before():
    def failing():
        yield 1
        raise PolymodalError("a broken image")

    items = ahead(failing())
    assert next(items) == 1
    with pytest.raises(PolymodalError, match="a broken image"):
        next(items)


def test_ahead_makes_no_more_than_its_depth():
    made = []
    items = ahead((made.append(i) or i for i in range(100)), depth=2)
    assert next(items) == 0
    time.sleep(0.05)
    assert 1 <= len(made) <= 4  # one taken, two waiting, one in hand
    items.close()


def test_ahead_stops_its_thread_when_nobody_takes_more():
    def endless():
        while True:
            yield 0

    items = ahead(endless())
    next(items)
    assert [t for t in threading.enumerate() if t.name == "batches"]
    items.close()
    assert not [t for t in threading.enumerate() if t.name == "batches"]
