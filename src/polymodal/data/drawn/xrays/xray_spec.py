"""What the world of X-rays is: how many films, how large, how plain."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.ranges import Positive, ShareBelowOne, check_ranges
from polymodal.data.drawn.kernel.limits import check_limits

EDITION = 1
"""Raised whenever the same world would give another film or report than before."""

SECTIONS = ("report", "findings", "impression")
"""What the text may be: both sections, or one."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Chest films with 14 findings and reports; equal fields give equal data."""

    seed: int = 0
    """Another seed, other patients."""
    size: int = 128
    """Width and height of the films, in pixels."""
    train: int = 2000
    """How many films to train on, each of another patient."""
    val: int = 400
    """How many to choose by."""
    test: int = 800
    """How many to test."""
    strength: Positive[float] = 1.0
    """How strongly all findings show, in shares of their own strength."""
    omissions: ShareBelowOne[float] = 0.1
    """The share of findings that a report does not name."""
    text: str = "report"
    """report, or one section of it: findings or impression."""

    def __post_init__(self) -> None:
        check_ranges(self)
        for field in dataclasses.fields(self):
            if isinstance(field.default, float):  # 1 and 1.0 are one world
                object.__setattr__(self, field.name, float(getattr(self, field.name)))
        if self.text not in SECTIONS:
            raise unknown("text of xrays", self.text, SECTIONS)
        counts = {"train": self.train, "val": self.val, "test": self.test}
        for name, count in counts.items():
            if count < 0:
                raise PolymodalError(f"{name} counts images, but was {count}. Give 0 or more.")
        if not sum(counts.values()):
            raise PolymodalError("train, val and test are all 0: there is nothing to draw.")
        check_limits(size=self.size, seed=self.seed, usual=128, **counts)

    def spec(self) -> dict[str, Any]:
        """All that the data depend on, as JSON."""
        return {"world": "xrays", "edition": EDITION} | dataclasses.asdict(self)

    def root(self, split: str) -> int:
        """The start of all randomness of a split: no two share a patient."""
        return int(files.fingerprint(["xrays", self.seed, split]), 16) >> 1
