"""Pictures of coloured squares on black, each a part whose place is known, and encoders that see them.

A class is a set of colours; each of its pictures shows a square of every one, somewhere.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.functional import max_pool2d

from polymodal.data.records import Caption, Record

SIZE, SLOT, SIDE, COLOURS = 48, 12, 10, 6
CELL = 6
"""Pixels of a place of the made-up encoders."""
SETS = [*itertools.combinations(range(COLOURS), 2), *itertools.combinations(range(COLOURS), 3)]


@dataclass(frozen=True)
class Marks:
    """Some pictures of each of some classes."""

    chosen: tuple[int, ...]
    each: int = 6
    seed: int = 0
    known: bool = True
    """Whether it is known where the parts are."""
    fingerprint: str = "marks"
    rule: str = "48×48: drawn at this size"
    attribute_names: tuple[str, ...] = ()

    def __len__(self):
        return len(self.chosen) * self.each

    @property
    def classes(self):
        return tuple("+".join(map(str, colours)) for colours in SETS)

    @property
    def labels(self):
        return np.repeat(np.array(self.chosen, np.int64), self.each)

    @property
    def attributes(self):
        found = np.zeros((len(SETS), COLOURS), np.float32)
        for row, colours in enumerate(SETS):
            found[row, list(colours)] = 0.7
        return found

    @property
    def part_names(self):
        return tuple(f"mark {colour}" for colour in range(COLOURS)) if self.known else ()

    def corners(self, index):
        """The upper left corner of each square."""
        chance = np.random.default_rng([self.seed, index])
        slots = chance.choice((SIZE // SLOT) ** 2, COLOURS, replace=False)
        shift = chance.integers(0, SLOT - SIDE + 1, (COLOURS, 2))
        return np.stack(np.divmod(slots, SIZE // SLOT), 1) * SLOT + shift

    @property
    def parts(self):
        if not self.known:
            return None
        found = np.zeros((len(self), COLOURS, 3), np.float32)
        for index in range(len(self)):
            for colour in SETS[self.labels[index]]:
                top, left = self.corners(index)[colour] + SIDE / 2
                found[index, colour] = left / SIZE, top / SIZE, 1
        return found

    def captions(self, index):
        return (Caption(self.classes[self.labels[index]]),)

    def __getitem__(self, index):
        return Record(str(index), self.images([index])[0], self.captions(index))

    def images(self, indices):
        found = np.zeros((len(indices), SIZE, SIZE, 3), np.uint8)
        for row, index in enumerate(indices):
            for colour in SETS[self.labels[index]]:
                top, left = self.corners(index)[colour]
                found[row, top : top + SIDE, left : left + SIDE] = 40 * (colour + 1)
        return found


TRAIN = Marks(tuple(range(0, len(SETS), 2)), each=12)
TEST = Marks(tuple(range(1, len(SETS), 2)), each=6, seed=1)
SPLITS = {"train": TRAIN, "test": TEST}


class Bare:
    """Pictures without classes."""

    fingerprint, rule = "bare", "none"

    def __init__(self, marks):
        self.marks = marks

    def __len__(self):
        return len(self.marks)

    def images(self, indices):
        return self.marks.images(indices)

    def captions(self, index):
        return self.marks.captions(index)

    def __getitem__(self, index):
        return self.marks[index]


class Knowing(nn.Module):
    """Which colour each place shows, and which colours the picture shows."""

    def maps(self, x):
        grey = (255 * (0.5 * x[:, 0] + 0.5)).round()
        off = torch.stack([(grey - 40 * (colour + 1)).abs() for colour in range(COLOURS)], 1)
        return max_pool2d((1 - off).clamp_min(0), CELL)

    def forward(self, x):
        maps = self.maps(x)
        return maps.amax((2, 3)), maps


class Blind(nn.Module):
    """Numbers that have nothing to do with the picture."""

    def forward(self, x):
        chance = torch.Generator().manual_seed(len(x))
        local = torch.rand(len(x), COLOURS, SIZE // CELL, SIZE // CELL, generator=chance)
        return torch.rand(len(x), COLOURS, generator=chance), local
