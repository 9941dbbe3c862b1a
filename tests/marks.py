"""Pictures of coloured squares on black, each a part whose place is known, and encoders that see them.

A class is a set of colours; each of its pictures shows a square of every one, somewhere.
"""

import itertools

import numpy as np
import torch
from torch import nn
from torch.nn.functional import max_pool2d

from polymodal.data.columns import Captions, Labels, Parts, Read
from polymodal.data.records import Caption, Dataset

SIZE, SLOT, SIDE, COLOURS = 48, 12, 10, 6
CELL = 6
"""Pixels of a place of the made-up encoders."""
SETS = [*itertools.combinations(range(COLOURS), 2), *itertools.combinations(range(COLOURS), 3)]


class Marks(Dataset):
    """Some pictures of each of some classes."""

    def __init__(self, chosen, each=6, seed=0, known=True):
        """`known` is whether it is known where the parts are."""
        self.chosen, self.each, self.seed, n = chosen, each, seed, len(chosen) * each
        attributes = np.zeros((len(SETS), COLOURS), np.float32)
        for row, colours in enumerate(SETS):
            attributes[row, list(colours)] = 0.7
        columns = {
            "image": Read(n, self.drawn),
            "captions": Captions(n, self.said),
            "label": Labels(
                np.repeat(np.array(chosen, np.int64), each),
                classes=tuple("+".join(map(str, colours)) for colours in SETS),
                attributes=attributes,
            ),
        }
        if known:
            names = tuple(f"mark {colour}" for colour in range(COLOURS))
            columns["parts"] = Parts(n, self.there, names=names)
        super().__init__(columns, fingerprint="marks", rule="48×48: drawn at this size")

    def corners(self, index):
        """The upper left corner of each square."""
        chance = np.random.default_rng([self.seed, index])
        slots = chance.choice((SIZE // SLOT) ** 2, COLOURS, replace=False)
        shift = chance.integers(0, SLOT - SIDE + 1, (COLOURS, 2))
        return np.stack(np.divmod(slots, SIZE // SLOT), 1) * SLOT + shift

    def there(self, indices):
        found = np.zeros((len(indices), COLOURS, 3), np.float32)
        for row, index in enumerate(indices):
            for colour in SETS[self.labels[index]]:
                top, left = self.corners(index)[colour] + SIDE / 2
                found[row, colour] = left / SIZE, top / SIZE, 1
        return found

    def said(self, index):
        return (Caption(self.classes[self.labels[index]]),)

    def drawn(self, indices):
        found = np.zeros((len(indices), SIZE, SIZE, 3), np.uint8)
        for row, index in enumerate(indices):
            for colour in SETS[self.labels[index]]:
                top, left = self.corners(index)[colour]
                found[row, top : top + SIDE, left : left + SIDE] = 40 * (colour + 1)
        return found


TRAIN = Marks(tuple(range(0, len(SETS), 2)), each=12)
TEST = Marks(tuple(range(1, len(SETS), 2)), each=6, seed=1)
SPLITS = {"train": TRAIN, "test": TEST}


class Bare(Dataset):
    """Pictures without classes."""

    def __init__(self, marks):
        kept = {name: marks.columns[name] for name in ("image", "captions")}
        super().__init__(kept, fingerprint="bare", rule="none")


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
