"""The world of birds: how large it is and how it is split."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.drawn.birds.bird_split import Split
from polymodal.data.drawn.birds.species import TRAIN, UNSEEN, VAL
from polymodal.data.drawn.kernel.limits import check_limits

EDITION = 1
"""Raised whenever the same world would give another bird, caption or pixel than before."""

CLASSES = {"train": TRAIN, "val": VAL, "test_seen": tuple(sorted(TRAIN + VAL)), "test": UNSEEN}
"""The classes that birds are drawn of, by what they are for."""

SPLITS = {
    "train": ("train",),
    "val": ("val",),
    "trainval": ("train", "val"),
    "test_seen": ("test_seen",),
    "test": ("test",),
}
"""The birds of each split."""


@dataclass(frozen=True, kw_only=True)
class Birds:
    """Sixty classes of drawn birds, of which fifteen are unseen; equal fields give equal data."""

    seed: int = 0
    """Another seed, other birds of the same classes."""
    size: int = 128
    """Width and height of the square images, in pixels."""
    train: int = 4200
    """How many images of the 35 classes to train on."""
    val: int = 1200
    """How many of 10 other classes, to choose by: `trainval` has all of train and val."""
    test_seen: int = 900
    """How many more of these 45 classes, the seen ones."""
    test: int = 1200
    """How many of the 15 unseen classes."""

    def __post_init__(self) -> None:
        counts = {name: getattr(self, name) for name in CLASSES}
        for name, classes in CLASSES.items():
            if counts[name] < len(classes):
                raise PolymodalError(
                    f"{name} is {counts[name]}, but there are {len(classes)} classes in it, and "
                    f"each needs an image. Give {len(classes)} or more."
                )
        check_limits(size=self.size, seed=self.seed, usual=128, **counts)

    def spec(self) -> dict[str, Any]:
        """All that the data depend on, as JSON."""
        return {"world": "birds", "edition": EDITION} | dataclasses.asdict(self)

    def root(self, name: str) -> int:
        """The start of all randomness of a split: no two share a bird."""
        return int(files.fingerprint(["birds", self.seed, name]), 16) >> 1

    def splits(self) -> dict[str, Split]:
        """The splits, drawn on the fly; bird k of a split is the same however many there are."""
        return {name: self._split(name) for name in SPLITS}

    def _split(self, name: str) -> Split:
        """One split: each of its classes in turn, so that they are even."""
        items = {origin: np.arange(getattr(self, origin)) for origin in SPLITS[name]}
        seeds = {origin: np.full(len(some), self.root(origin)) for origin, some in items.items()}
        labels = [np.resize(CLASSES[origin], len(some)) for origin, some in items.items()]
        return Split(
            name=name,
            size=self.size,
            ids=tuple(
                f"birds-{self.seed}-{origin}-{item:06d}"
                for origin, some in items.items()
                for item in some
            ),
            seeds=np.concatenate(list(seeds.values())),
            items=np.concatenate(list(items.values())),
            labels=np.concatenate(labels),
            fingerprint=files.fingerprint({"world": self.spec(), "split": name}),
        )


def named(**options: Any) -> Birds:
    """The world of birds with some of its fields changed.

    >>> named(train=700, size=64).val
    1200
    """
    fields = [field.name for field in dataclasses.fields(Birds)]
    for option in options:
        if option not in fields:
            raise unknown("option of the world 'birds'", option, fields)
    return Birds(**options)
