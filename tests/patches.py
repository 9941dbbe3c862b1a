"""Pictures of two colours, above and below: what a class is told by, and small enough for a CPU."""

import itertools
from dataclasses import dataclass

import numpy as np

from polymodal.data.records import Caption, Record

SIZE = 40
COLOURS = np.array([[200, 40, 40], [40, 180, 60], [50, 60, 210], [220, 200, 40]])
PAIRS = list(itertools.product(range(4), range(4)))
UNSEEN = (1, 4, 11, 14)
"""Pairs of colours that were never seen together, though each of them was in its place."""


@dataclass(frozen=True)
class Patches:
    """Some pictures of each of some pairs of colours."""

    chosen: tuple[int, ...]
    each: int = 8
    seed: int = 0
    fingerprint: str = "patches"
    rule: str = "none"
    parts: None = None
    part_names: tuple[str, ...] = ()
    attribute_names: tuple[str, ...] = ()

    def __len__(self):
        return len(self.chosen) * self.each

    @property
    def classes(self):
        return tuple(f"{above} over {below}" for above, below in PAIRS)

    @property
    def labels(self):
        return np.repeat(np.array(self.chosen, np.int64), self.each)

    @property
    def attributes(self):
        found = np.zeros((len(PAIRS), 8), np.float32)
        for row, (above, below) in enumerate(PAIRS):
            found[row, [above, 4 + below]] = 1
        return found

    def captions(self, index):
        return (Caption(self.classes[self.labels[index]]),)

    def __getitem__(self, index):
        return Record(str(index), self.images([index])[0], self.captions(index))

    def images(self, indices):
        found = np.empty((len(indices), SIZE, SIZE, 3), np.uint8)
        for row, index in enumerate(indices):
            above, below = PAIRS[self.labels[index]]
            chance = np.random.default_rng([self.seed, index])
            line = chance.integers(15, 25)
            found[row, :line], found[row, line:] = COLOURS[above], COLOURS[below]
            noise = chance.integers(-30, 30, found[row].shape)
            found[row] = (found[row].astype(int) + noise).clip(0, 255)
        return found


TRAIN = Patches(tuple(number for number in range(16) if number not in UNSEEN))
TEST = Patches(UNSEEN, seed=1)
