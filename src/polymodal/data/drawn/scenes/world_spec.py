"""What an embedded world is: its name, its sizes, what its things may be."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.drawn.kernel.limits import check_limits
from polymodal.data.drawn.scenes.attributes import KINDS

EDITION = 1
"""Raised whenever the same world would give another scene, caption or pixel than before."""

MOST = 10
"""The most objects that a scene may have."""

PALETTES: dict[str, dict[str, tuple[str, ...]]] = {
    "scenes": KINDS,
    "two-objects": KINDS,
    "one-object": {
        "size": ("small", "large"),
        "colour": ("red", "blue"),
        "material": ("rubber",),
        "shape": ("sphere",),
    },
}
"""What the things of each world may be. In one-object only colour and size vary (004, §5.5); a
sphere looks the same however it is turned."""

FIXED = {"two-objects": 2, "one-object": 1}
"""The worlds with a fixed number of objects."""


@dataclass(frozen=True, kw_only=True)
class WorldSpec:
    """A dataset that is drawn, not downloaded; equal fields give equal data on every machine."""

    name: str
    """Which world: scenes, two-objects or one-object."""
    seed: int = 0
    """Another seed, another set of scenes."""
    size: int = 112
    """Width and height of the square images, in pixels."""
    train: int = 8000
    """How many of the first items are for training."""
    val: int = 1000
    """How many of the next are for validation."""
    test: int = 1000
    """How many of the next are for testing."""
    objects: tuple[int, int] = (3, 8)
    """The fewest and the most objects of a scene."""
    hold_out: tuple[str, ...] = ()
    """Combinations such as 'purple cylinder' kept out of every split but `composition`."""
    overlap: bool = False
    """Let objects hide each other until a tenth is seen, in place of 55 %."""

    def __post_init__(self) -> None:
        if self.name not in PALETTES:
            raise unknown("world", self.name, PALETTES)
        object.__setattr__(self, "objects", tuple(self.objects))
        if isinstance(self.hold_out, str):
            raise PolymodalError(
                f"hold_out is a list of combinations, but was the text {self.hold_out!r}. "
                f"Write hold_out=({self.hold_out!r},)."
            )
        object.__setattr__(self, "hold_out", tuple(self.hold_out))
        self._check_numbers()
        for combination in self.hold_out:
            self._codes(combination)
        if self.hold_out and not self.test:
            raise PolymodalError(
                "hold_out moves scenes of the test range into the split 'composition', but test "
                "is 0. Give test=1000, say."
            )

    def _check_numbers(self) -> None:
        """Refuse counts, sizes and seeds that cannot be drawn, and say which can."""
        counts = {"train": self.train, "val": self.val, "test": self.test}
        for name, count in counts.items():
            if count < 0:
                raise PolymodalError(f"{name} counts images, but was {count}. Give 0 or more.")
        if self.train + self.val + self.test == 0:
            raise PolymodalError("train, val and test are all 0: there is nothing to draw.")
        check_limits(size=self.size, seed=self.seed, usual=112, **counts)
        fixed = FIXED.get(self.name)
        if fixed and self.objects != (fixed, fixed):
            raise PolymodalError(
                f"objects is {self.objects}, but the world {self.name!r} has {fixed} in every "
                "image. Use the world 'scenes' for other numbers."
            )
        if len(self.objects) != 2 or not 1 <= self.objects[0] <= self.objects[1] <= MOST:
            raise PolymodalError(
                f"objects is {self.objects}, but must be the fewest and the most of a scene, "
                f"from 1 to {MOST}, such as (3, 8)."
            )

    def _codes(self, combination: str) -> dict[int, int]:
        """The attribute codes that a held-out combination asks for."""
        words = {word: kind for kind, known in KINDS.items() for word in known}
        asked: dict[int, int] = {}
        for word in combination.split():
            if word not in words:
                raise unknown("attribute", word, words)
            column = list(KINDS).index(words[word])
            if column in asked:
                raise PolymodalError(
                    f"hold_out has {combination!r}, which names two values of {words[word]}: "
                    "no object can be both. Give them as two combinations."
                )
            asked[column] = KINDS[words[word]].index(word)
        if not asked:
            raise PolymodalError("hold_out has an empty combination. Write one such as 'red cube'.")
        return asked

    def choices(self) -> np.ndarray:
        """For each attribute the number of its codes in this world, then the codes."""
        table = np.zeros((4, 9), np.int64)
        for row, (kind, known) in enumerate(KINDS.items()):
            codes = [known.index(word) for word in PALETTES[self.name][kind]]
            table[row, 0] = len(codes)
            table[row, 1 : 1 + len(codes)] = codes
        return table

    def spec(self) -> dict[str, Any]:
        """All that the data depend on, as JSON."""
        fields = {"edition": EDITION} | dataclasses.asdict(self)
        return fields | {"objects": list(self.objects), "hold_out": list(self.hold_out)}

    @property
    def fingerprint(self) -> str:
        """A hash of the spec."""
        return files.fingerprint(self.spec())

    @property
    def root(self) -> int:
        """The start of all randomness: worlds of different names share no scenes."""
        return int(files.fingerprint([self.name, self.seed]), 16) >> 1

    def id(self, item: int) -> str:
        """An item's name, the same whatever the split."""
        return f"{self.name}-{self.seed}-{item:06d}"
