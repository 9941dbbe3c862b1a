"""Pictures of two colours, above and below: what a class is told by, and small enough for a CPU."""

import itertools

import numpy as np

from polymodal.data.columns import Captions, Labels, Read
from polymodal.data.records import Caption, Dataset

SIZE = 40
COLOURS = np.array([[200, 40, 40], [40, 180, 60], [50, 60, 210], [220, 200, 40]])
PAIRS = list(itertools.product(range(4), range(4)))
UNSEEN = (1, 4, 11, 14)
"""Pairs of colours that were never seen together, though each of them was in its place."""


class Patches(Dataset):
    """Some pictures of each of some pairs of colours."""

    def __init__(self, chosen, each=8, seed=0, classes=None, fingerprint="patches"):
        self.chosen, self.seed, n = chosen, seed, len(chosen) * each
        told = classes or tuple(f"{above} over {below}" for above, below in PAIRS)
        attributes = np.zeros((len(PAIRS), 8), np.float32)
        for row, (above, below) in enumerate(PAIRS):
            attributes[row, [above, 4 + below]] = 1
        labels = np.repeat(np.array(chosen, np.int64), each)
        columns = {
            "image": Read(n, self.drawn),
            "captions": Captions(n, self.said),
            "label": Labels(labels, classes=told, attributes=attributes),
        }
        super().__init__(columns, fingerprint=fingerprint, rule="none")

    def said(self, index):
        return (Caption(self.classes[self.labels[index]]),)

    def drawn(self, indices):
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
