"""Images of classes that attributes describe: what zero-shot learning needs beyond pictures."""

import re
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32, Int64

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset


@runtime_checkable
class Classed(Dataset, Protocol):
    """A split whose images belong to classes that attributes describe (003, §4.2.3).

    All splits of a dataset share its classes; those of the split at hand are the labels in it.
    """

    @property
    def labels(self) -> Int64[np.ndarray, " n"]:
        """Each image's class, as its place in `classes`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of all classes, seen or not, as the dataset writes them."""

    @property
    def attributes(self) -> Float32[np.ndarray, "c a"]:
        """What is true of each class, and how much, as the dataset gives it."""

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The name of each attribute; empty where they are not known."""

    @property
    def parts(self) -> Float32[np.ndarray, "n p 3"] | None:
        """Each part's x and y in sides of the picture, and 1 where it can be seen, else three zeros."""

    @property
    def part_names(self) -> tuple[str, ...]:
        """The name of each part; empty where there are none."""


def classed(dataset: Dataset) -> Classed:
    """The same split, if its images have classes."""
    if not isinstance(dataset, Classed):
        raise PolymodalError(
            "These images have no classes with attributes, which zero-shot learning needs. "
            "Give data that has: birds, which is drawn, or for instance cub:PATH,splits=PATH."
        )
    return dataset


def unit_attributes(attributes: Float[np.ndarray, "c a"]) -> Float32[np.ndarray, "c a"]:
    """Each class's attributes with ℓ2 norm 1, as they represent a class (003, §4.2.3)."""
    norms = np.linalg.norm(attributes.astype(np.float64), axis=1, keepdims=True)
    if not norms.all():
        raise PolymodalError(
            f"All attributes of class {norms.argmin()} are 0, so that they have no direction. "
            "Describe the class, or leave it out."
        )
    unit: np.ndarray = (attributes / norms).astype(np.float32)
    return unit


def in_words(name: str) -> str:
    """A class's name as people say it.

    >>> in_words("001.Black_footed_Albatross"), in_words("grizzly+bear")
    ('black footed albatross', 'grizzly bear')
    """
    return re.sub(r"^\d+\.", "", name).replace("_", " ").replace("+", " ").lower()
