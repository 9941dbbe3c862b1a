"""Configs to plain settings and back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from polymodal.base.config import fitting, from_settings, to_settings
from polymodal.base.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Config:
    margin: float = 0.2
    sizes: tuple[int, ...] = (1, 2)
    folder: Path | None = None
    steps: int | None = None
    flip: bool = False
    precision: Literal["32", "bf16"] = "32"


def test_settings_are_plain_values():
    assert to_settings(Config(folder=Path("a/b"))) == {
        "margin": 0.2,
        "sizes": [1, 2],
        "folder": "a/b",
        "steps": None,
        "flip": False,
        "precision": "32",
    }


def test_round_trip():
    assert from_settings(Config, {"margin": 0.3}, "a.yaml") == Config(margin=0.3)
    assert from_settings(Config, to_settings(Config()), "a.yaml") == Config()
    assert from_settings(Config, None, "a.yaml") == Config()


def test_an_unknown_key_names_the_nearest_and_the_file():
    with pytest.raises(
        PolymodalError,
        match=r"in a\.yaml: 'margn'\. Did you mean 'margin'\? Known: flip, folder, margin",
    ):
        from_settings(Config, {"margn": 0.3}, "a.yaml")


def test_numbers_are_read_as_they_are_meant():
    """YAML reads 1e-4 as text and 32 as a number."""
    found = from_settings(Config, {"margin": "1e-4", "precision": 32, "steps": 7}, "a.yaml")
    assert found == Config(margin=1e-4, precision="32", steps=7)
    assert from_settings(Config, {"margin": 1}, "a.yaml").margin == 1.0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("margin", "wide", "margin is 'wide', but must be a number"),
        ("margin", None, "margin is None, but must be a number"),
        ("steps", 1.5, "steps is 1.5, but must be a whole number"),
        ("flip", "yes", "flip is 'yes', but must be true or false"),
        ("precision", "16", "precision is '16', but must be one of 32, bf16"),
    ],
)
def test_values_of_another_kind_are_named(name, value, message):
    with pytest.raises(PolymodalError, match=f"a.yaml: {message}"):
        from_settings(Config, {name: value}, "a.yaml")


def test_what_is_no_list_of_settings():
    with pytest.raises(PolymodalError, match="must hold settings as 'name: value' lines, not 7"):
        from_settings(Config, 7, "a.yaml")


def test_the_members_of_a_list_are_checked_too():
    with pytest.raises(ValueError, match="must be one of a, b"):
        fitting(tuple[Literal["a", "b"], ...], ["a", "c"])
    assert fitting(tuple[Literal["a", "b"], ...], ["b", "a"]) == ("b", "a")
    assert fitting(tuple[int, float], [1, "2e0"]) == (1, 2.0)
    with pytest.raises(ValueError, match="must have 2 values"):
        fitting(tuple[int, int], [1, 2, 3])
