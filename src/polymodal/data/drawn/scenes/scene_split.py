"""One split of a world as a dataset, whether its images are drawn now or were drawn before."""

import operator
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from polymodal.base import files
from polymodal.data.drawn.scenes import scene_captions as writing
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.drawn.scenes.world_spec import WorldSpec
from polymodal.data.records import Caption, Images, Record


class Source(Protocol):
    """Where a split's layouts, captions and images come from."""

    def layout(self, index: int) -> Layout:
        """What is where in one scene."""

    def captions(self, index: int) -> tuple[Caption, ...]:
        """What is said of it."""

    def images(self, indices: Sequence[int]) -> Images:
        """Pictures of some scenes."""


class OnTheFly:
    """Every image is drawn when it is asked for, in parallel; nothing is kept."""

    def __init__(self, world: WorldSpec, items: np.ndarray) -> None:
        self.world, self.items = world, items

    def layout(self, index: int) -> Layout:
        """What is where in one scene."""
        return drawing.lay_out(self.world, int(self.items[index]))

    def captions(self, index: int) -> tuple[Caption, ...]:
        """What is said of it."""
        return writing.captions(self.world, int(self.items[index]), self.layout(index))

    def images(self, indices: Sequence[int]) -> Images:
        """Pictures of some scenes."""
        return drawing.paint(map(self.layout, indices), self.world.size)


class Split:
    """A split of a world: a `Dataset` whose truth is known."""

    def __init__(self, world: WorldSpec, name: str, items: np.ndarray, source: Source) -> None:
        self.world, self.name, self.items, self.source = world, name, items, source

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Record:
        """The whole record: image, captions and truth."""
        index = self._within(index)
        return Record(
            id=self.world.id(int(self.items[index])),
            image=self.source.images([index])[0],
            captions=self.source.captions(index),
            scene=drawing.scene(self.source.layout(index), self.world.size),
        )

    def captions(self, index: int) -> tuple[Caption, ...]:
        """The captions alone, without touching a pixel."""
        return self.source.captions(self._within(index))

    def images(self, indices: Sequence[int]) -> Images:
        """A batch of images, read or drawn in parallel."""
        return self.source.images([self._within(index) for index in indices])

    @property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""
        return files.fingerprint({"world": self.world.spec(), "split": self.name})

    @property
    def rule(self) -> str:
        """How its images became pixels."""
        return f"{self.world.size}×{self.world.size}: drawn at this size, 2×2 points a pixel"

    def _within(self, index: int) -> int:
        """An index in [0, len), counted from the end where it is negative."""
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"{self.name} has {len(self)} records, so there is no index {place}.")
        return place % len(self)
