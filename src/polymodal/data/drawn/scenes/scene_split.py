"""One split of a world as a dataset, whether its images are drawn now or were drawn before."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from polymodal.base import files
from polymodal.data.columns import Captions, Column, Each, Read, TrueTexts
from polymodal.data.drawn.scenes import scene_captions, scene_drawing
from polymodal.data.drawn.scenes.caption_truth import truth
from polymodal.data.drawn.scenes.named_places import places
from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.drawn.scenes.world_spec import FIXED, WorldSpec
from polymodal.data.records import Caption, Dataset, Images, Region


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
        return scene_drawing.lay_out(self.world, int(self.items[index]))

    def captions(self, index: int) -> tuple[Caption, ...]:
        """What is said of it."""
        return scene_captions.captions(self.world, int(self.items[index]), self.layout(index))

    def images(self, indices: Sequence[int]) -> Images:
        """Pictures of some scenes."""
        return scene_drawing.paint(map(self.layout, indices), self.world.size)


class Split(Dataset):
    """A split of a world, whose truth is known."""

    def __init__(self, world: WorldSpec, name: str, items: np.ndarray, source: Source) -> None:
        self.world, self.name, self.items, self.source = world, name, items, source
        self._latest: tuple[int, scene_drawing.Scene] | None = None
        n = len(items)
        columns: dict[str, Column] = {
            "image": Read(n, source.images),
            "captions": Captions(
                n, source.captions, truth=self._truth if world.name == "scenes" else None
            ),
            "regions": Each(n, self._regions),
            "layout": Each(n, self._layout),
            "relations": Each(n, self._relations),
            "mask": Read(n, self._masks),
        }
        if world.name in scene_captions.WORDS:
            columns["true_texts"] = TrueTexts(n, self._true, words=scene_captions.WORDS[world.name])
        if world.name in FIXED:
            columns["places"] = Read(n, self._places)
        rule = f"{world.size}×{world.size}: drawn at this size, 2×2 points a pixel"
        super().__init__(columns, ids=Each(n, self._id), rule=rule)

    @property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""
        return files.fingerprint({"world": self.world.spec(), "split": self.name})

    def _id(self, index: int) -> str:
        return self.world.id(int(self.items[index]))

    def _scene(self, index: int) -> scene_drawing.Scene:
        """The truth of one image; that of the latest is kept, since several columns ask for it."""
        latest = self._latest
        if latest is None or latest[0] != index:
            latest = index, scene_drawing.scene(self.source.layout(index), self.world.size)
            self._latest = latest
        return latest[1]

    def _regions(self, index: int) -> tuple[Region, ...]:
        return self._scene(index).regions

    def _layout(self, index: int) -> tuple[Region, ...]:
        """Boxes whose labels say what must be seen in them; how large it is, the box itself says."""
        words = self.source.layout(index).words()
        return tuple(
            Region(" ".join(own[1:]), region.box)
            for own, region in zip(words, self._regions(index), strict=True)
        )

    def _relations(self, index: int) -> dict[str, tuple[tuple[int, int], ...]]:
        return self.source.layout(index).relations()

    def _masks(self, indices: Sequence[int]) -> UInt8[np.ndarray, "b h w"]:
        return np.stack([self._scene(index).mask for index in indices])

    def _true(self, index: int) -> tuple[str, ...]:
        """The texts of a fixed list of words that are true of an image, without touching a pixel."""
        if self.world.name == "two-objects":
            return scene_captions.all_nine_words(self.source.layout(index))
        return tuple(caption.text for caption in self.source.captions(index))

    def _places(self, indices: Sequence[int]) -> Float32[np.ndarray, "b k o 2"]:
        """Where the objects of those texts are."""
        return places([self.source.layout(index) for index in indices])

    def _truth(self) -> Callable[[slice], Bool[np.ndarray, "b n"]]:
        """Of which images the captions are true."""
        layouts = (self.source.layout(index) for index in range(len(self)))
        return truth(layouts, [said for i in range(len(self)) for said in self.captions(i)])
