"""Batches for training: which examples come at which step is a function of the seed and the step alone.

So a run that was killed goes on with the very batch that it would have seen, and one of two
processes sees its half of the batch that one process alone would have.
"""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int

from polymodal.base.errors import PolymodalError


@runtime_checkable
class Examples(Protocol):
    """Training examples that can be had by the batch."""

    def __len__(self) -> int: ...

    def batch(self, indices: Int[np.ndarray, " b"]) -> Any:
        """The examples at these places, ready for a system's `training_step`."""


@runtime_checkable
class MovableExamples(Examples, Protocol):
    """Examples that can be kept on a device."""

    def resident(self, device: torch.device) -> Examples:
        """The same examples, kept there."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The endless order of examples: every epoch its own shuffle, without the last, short batch."""

    examples: int
    batch_size: int
    seed: int

    def __post_init__(self) -> None:
        if self.batch_size < 2:
            raise PolymodalError(
                f"A batch of {self.batch_size} has no negatives. Give --batch-size 2 or more."
            )
        if self.examples < self.batch_size:
            raise PolymodalError(
                f"The training split has {self.examples} examples, fewer than one batch of "
                f"{self.batch_size}. Give --batch-size {max(self.examples, 2)} or less, or more data."
            )

    @property
    def steps_per_epoch(self) -> int:
        return self.examples // self.batch_size

    def at(self, step: int) -> Int[np.ndarray, " b"]:
        """The places of the examples of batch `step`.

        >>> order = Order(examples=5, batch_size=2, seed=0)
        >>> sorted(np.concatenate([order.at(2), order.at(3)]).tolist()) != sorted(order.at(0))
        True
        """
        epoch, place = divmod(step, self.steps_per_epoch)
        return self.shuffle(epoch)[place * self.batch_size : (place + 1) * self.batch_size]

    def shuffle(self, epoch: int) -> Int[np.ndarray, " n"]:
        """The permutation of one epoch, from a counter-based generator."""
        return np.random.Generator(np.random.Philox(key=[self.seed, epoch])).permutation(
            self.examples
        )


class Batches:
    """The batches of steps `first` to `last`, this process's share of each, made one step ahead."""

    def __init__(
        self, examples: Examples, order: Order, *, first: int, last: int, rank: int, world: int
    ) -> None:
        if order.batch_size % world:
            raise PolymodalError(
                f"A batch of {order.batch_size} cannot be shared by {world} processes. "
                f"Give a --batch-size that {world} divides."
            )
        self.examples, self.order = examples, order
        self.first, self.last = first, last
        self.rank, self.world = rank, world

    def __iter__(self) -> Iterator[Any]:
        yield from ahead(self.produce())

    def produce(self) -> Iterator[Any]:
        epoch, shuffle = -1, np.empty(0, dtype=np.int64)
        size, share = self.order.batch_size, self.order.batch_size // self.world
        for step in range(self.first, self.last):
            now, place = divmod(step, self.order.steps_per_epoch)
            if now != epoch:
                epoch, shuffle = now, self.order.shuffle(now)
            start = place * size + self.rank * share
            yield self.examples.batch(shuffle[start : start + share])


def ahead(items: Iterator[Any], depth: int = 2) -> Iterator[Any]:
    """Make items on a thread of their own, up to `depth` before they are asked for."""
    ready: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def offer(kind: str, value: Any) -> bool:
        while not stopped.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not offer("item", item):
                    return
            offer("end", None)
        except BaseException as error:
            offer("error", error)

    worker = threading.Thread(target=work, name="batches", daemon=True)
    worker.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        stopped.set()
        worker.join()
