"""Images of classes that attributes describe: what zero-shot learning needs beyond pictures."""

import re
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import GIVEN_BY
from polymodal.data.records import Dataset


def has_classes(dataset: Dataset) -> bool:
    """Whether its images belong to classes that attributes describe (003, §4.2.3)."""
    label: Any = dataset.columns.get("label")
    return label is not None and label.attributes is not None


def classed(dataset: Dataset) -> Dataset:
    """The same split, if its images have classes that attributes describe."""
    if not has_classes(dataset):
        raise PolymodalError(
            "These images have no classes with attributes, which zero-shot learning needs. "
            f"Give data that has: {GIVEN_BY['label']}."
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
