"""What a world of phantoms is: how many, how large, and how they are scanned."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.ranges import OneOrMore, ShareBelowOne, ZeroOrMore, check_ranges
from polymodal.data.drawn.kernel.limits import check_limits

EDITION = 1
"""Raised whenever the same world would give another voxel than before."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Heads with a tumour in four MR sequences; equal fields give equal data."""

    name: str = "phantoms"
    """`phantoms`, some slices of each patient, or `phantoms-3d`, a volume of each."""
    seed: int = 0
    """Another seed, other patients."""
    size: int = 128
    """Width and height of a slice; a volume has half as many slices, its voxels are cubes."""
    train: int = 2000
    """How many slices, or volumes, to train on."""
    val: int = 400
    """How many of other patients, to choose by."""
    test: int = 800
    """How many of yet other patients."""
    slices: OneOrMore[int] = 4
    """Slices of each patient; a volume has all."""
    bias: ZeroOrMore[float] = 0.15
    """How strongly brightness changes over the field of view."""
    noise: ZeroOrMore[float] = 0.015
    """Noise, in shares of the brightest signal."""
    misregistration: ZeroOrMore[float] = 0.0
    """Mm by which a sequence may lie beside the mask, at most."""
    missing: ShareBelowOne[float] = 0.0
    """Which share of sequences the training patients lack; others have all, one is always there."""
    stripped: bool = False
    """Cut the skull away, as in BRATS."""

    def __post_init__(self) -> None:
        if self.name not in USUAL:
            raise unknown("world", self.name, USUAL)
        check_ranges(self)
        for field in dataclasses.fields(self):
            if isinstance(field.default, float):  # 1 and 1.0 are one world
                object.__setattr__(self, field.name, float(getattr(self, field.name)))
        counts = {"train": self.train, "val": self.val, "test": self.test}
        for name, count in counts.items():
            if count < 0:
                raise PolymodalError(f"{name} counts images, but was {count}. Give 0 or more.")
        if not sum(counts.values()):
            raise PolymodalError("train, val and test are all 0: there is nothing to draw.")
        check_limits(size=self.size, seed=self.seed, usual=128, **counts)

    def spec(self) -> dict[str, Any]:
        """All that the data depend on, as JSON."""
        return {"world": "phantoms", "edition": EDITION} | dataclasses.asdict(self)

    def root(self, split: str) -> int:
        """The start of all randomness of a split: no two share a patient."""
        return int(files.fingerprint(["phantoms", self.seed, split]), 16) >> 1


USUAL: dict[str, dict[str, Any]] = {
    "phantoms": {},
    "phantoms-3d": {"size": 64, "train": 120, "val": 30, "test": 60, "slices": 1},
}
"""Every world, and what is usual in it where it differs."""
