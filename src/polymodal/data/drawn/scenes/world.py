"""Embedded worlds by name: how each is split, and its splits drawn on the fly."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.drawn.scenes.world_spec import WorldSpec
from polymodal.data.records import Dataset


@dataclass(frozen=True, kw_only=True)
class World(WorldSpec):
    """A dataset that is drawn, not downloaded; equal fields give equal data on every machine."""

    @cached_property
    def items(self) -> dict[str, np.ndarray]:
        """The items of each split, by their attributes alone: nothing is traced.

        Where combinations are held out, every split leaves out the scenes that have one of them,
        and a split `composition` has those of the test range that do.
        """
        numbers = np.arange(self.train + self.val + self.test)
        train, val, test = np.split(numbers, [self.train, self.train + self.val])
        if not self.hold_out:
            named = {"train": train, "val": val, "test": test}
            return {name: items for name, items in named.items() if len(items)}
        held = self._held_out(numbers)
        named = {"train": train[~held[train]], "val": val[~held[val]], "test": test[~held[test]]}
        named["composition"] = test[held[test]]
        asked = {"train": self.train, "val": self.val, "test": self.test, "composition": self.test}
        for name, items in named.items():
            if asked[name] and not len(items):
                raise PolymodalError(
                    f"With hold_out={self.hold_out}, the split {name!r} of {asked[name]} scenes "
                    "has nothing left. Hold out rarer combinations, or ask for more scenes."
                )
        return {name: items for name, items in named.items() if len(items)}

    def _held_out(self, numbers: np.ndarray) -> np.ndarray:
        """Whether each item has an object of a held-out combination."""
        from polymodal.data.drawn.scenes import scene_drawing  # which compiles the tracer

        codes, counts = scene_drawing.attributes(self, numbers)
        there = np.arange(codes.shape[1]) < counts[:, None]
        held = np.zeros(len(numbers), bool)
        for combination in self.hold_out:
            match = there.copy()
            for column, code in self._codes(combination).items():
                match &= codes[:, :, column] == code
            held |= match.any(1)
        return held

    def splits(self) -> dict[str, Dataset]:
        """The splits, drawn on the fly."""
        from polymodal.data.drawn.scenes.scene_split import OnTheFly, Split

        return {
            name: Split(self, name, items, OnTheFly(self, items))
            for name, items in self.items.items()
        }


WORLDS = {
    "scenes": World(name="scenes"),
    "two-objects": World(name="two-objects", train=90_000, val=10_000, test=0, objects=(2, 2)),
    "one-object": World(name="one-object", train=4000, val=500, test=500, objects=(1, 1)),
}
"""Every world as it comes by default."""


def named(name: str, **options: Any) -> World:
    """A world by name, with some of its fields changed.

    >>> named("scenes", train=100, hold_out=("purple cylinder",)).size
    112
    """
    if name not in WORLDS:
        raise unknown("world", name, WORLDS)
    fields = [field.name for field in dataclasses.fields(World) if field.name != "name"]
    for option in options:
        if option not in fields:
            raise unknown(f"option of the world {name!r}", option, fields)
    return dataclasses.replace(WORLDS[name], **options)
