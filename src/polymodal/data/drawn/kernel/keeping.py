"""What was drawn once, kept in memory where it is not too much."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

LIMIT = 2**30
"""Bytes that a split may take to be kept; of a larger one everything is drawn anew each time."""

Arrays = tuple[np.ndarray, ...]


class Kept:
    """Arrays with a row an item, drawn when they are first asked for."""

    def __init__(self, count: int, draw: Callable[[Sequence[int]], Arrays]) -> None:
        self.count, self.draw = count, draw
        self._forget()

    def _forget(self) -> None:
        self._arrays: Arrays | None = None
        self._done = np.zeros(self.count, np.bool_)
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"count": self.count, "draw": self.draw}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._forget()

    def __call__(self, rows: Sequence[int]) -> Arrays:
        """Some items' arrays; batches are made in one thread while another validates."""
        with self._lock:
            return self._given(np.asarray(rows, np.int64))

    def _given(self, chosen: np.ndarray) -> Arrays:
        new = np.unique(chosen[~self._done[chosen]])
        if len(new):
            drawn = self.draw(new.tolist())
            if self._arrays is None and sum(a[0].nbytes for a in drawn) * self.count > LIMIT:
                where = np.searchsorted(new, chosen)
                return tuple(array[where] for array in drawn)
            if self._arrays is None:
                self._arrays = tuple(np.zeros((self.count, *a.shape[1:]), a.dtype) for a in drawn)
            for array, some in zip(self._arrays, drawn, strict=True):
                array[new] = some
            self._done[new] = True
        arrays = self.draw([]) if self._arrays is None else self._arrays
        return tuple(array[chosen] for array in arrays)
