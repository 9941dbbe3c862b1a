"""Classes and their attributes."""

from pathlib import Path

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import classed, has_classes, in_words, unit_attributes
from polymodal.data.sources import open_splits


def test_unit_attributes_keep_their_direction() -> None:
    attributes = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    unit = unit_attributes(attributes)
    assert unit.dtype == np.float32
    for row, given in zip(unit.tolist(), attributes.tolist(), strict=True):
        length = sum(value * value for value in given) ** 0.5
        assert row == pytest.approx([value / length for value in given], abs=1e-6)


def test_a_class_without_any_attribute_has_no_direction() -> None:
    with pytest.raises(
        PolymodalError, match=r"All attributes of class 1 are 0.*Describe the class"
    ):
        unit_attributes(np.array([[1.0, 2.0], [0.0, 0.0]]))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("001.Black_footed_Albatross", "black footed albatross"),
        ("grizzly+bear", "grizzly bear"),
        ("temple_south_asia", "temple south asia"),
    ],
)
def test_a_name_in_words(name: str, words: str) -> None:
    assert in_words(name) == words


def test_captions_are_no_classes(squares: Path) -> None:
    split = open_splits(f"folder:{squares},size=8")["val"]
    assert not has_classes(split)
    with pytest.raises(PolymodalError, match=r"have no classes.*birds, which is drawn, .*cub:PATH"):
        classed(split)
