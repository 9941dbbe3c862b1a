"""What every dataset gives: records of an image, its captions and, where it is known, the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import UInt8

Images = UInt8[np.ndarray, "b h w 3"]


@dataclass(frozen=True)
class Phrase:
    """A noun phrase of a caption: its characters [start, end) and the objects that it names."""

    start: int
    end: int
    objects: tuple[int, ...]


@dataclass(frozen=True)
class Caption:
    """A sentence about an image, and how much of the image it speaks of."""

    text: str
    extent: str = "whole"
    phrases: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Thing:
    """An object of a scene: what it is, where it stands and what can be seen of it."""

    size: str
    colour: str
    material: str
    shape: str
    position: tuple[float, float, float]
    depth: float
    visible: float
    box: tuple[int, int, int, int]
    """Visible pixels' bounds x0, y0, x1, y1; the last column and row are x1 - 1 and y1 - 1."""


@dataclass(frozen=True)
class Scene:
    """The truth of a drawn image: a scene graph of things and relations, and whose each pixel is."""

    things: tuple[Thing, ...]
    relations: dict[str, tuple[tuple[int, int], ...]]
    """For each relation the pairs (a, b) for which 'a is RELATION b' (or 'of b') holds."""
    mask: UInt8[np.ndarray, "h w"] = field(repr=False, compare=False)
    """0 for the ground, k + 1 for thing k."""


@dataclass(frozen=True)
class Record:
    """One image with its captions."""

    id: str
    image: UInt8[np.ndarray, "h w 3"] = field(repr=False, compare=False)
    captions: tuple[Caption, ...]
    scene: Scene | None = None


@runtime_checkable
class Dataset(Protocol):
    """A split: records in a fixed order; the same index always gives the same record."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Record:
        """The whole record, with its truth where it is known."""

    def captions(self, index: int) -> tuple[Caption, ...]:
        """The captions alone, without touching a pixel."""

    def images(self, indices: Sequence[int]) -> Images:
        """A batch of images, read or drawn in parallel."""

    @property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""

    @property
    def rule(self) -> str:
        """How its images became pixels, in words, for the protocol of a result."""
