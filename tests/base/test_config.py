"""Configs to plain settings and back."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from polymodal.base.config import as_stored, fitting, from_settings, renamed, to_settings
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


@dataclass(frozen=True, kw_only=True)
class Renamed(Config):
    weight: float = field(default=1.0, metadata=renamed("heft"))


def test_a_renamed_setting_has_its_old_name_in_files():
    """So that a run of an earlier release can go on, and what is named after its settings stays."""
    assert to_settings(Renamed(weight=3.0)) == {**to_settings(Config()), "heft": 3.0}
    assert as_stored(Renamed, {"weight": 2, "steps": 3}) == {"heft": 2, "steps": 3}


@pytest.mark.parametrize("name", ["weight", "heft"])
def test_a_renamed_setting_is_read_by_either_name(name):
    assert from_settings(Renamed, {name: 2}, "a.yaml") == Renamed(weight=2.0)
    with pytest.raises(PolymodalError, match=f"a.yaml: {name} is 'x', but must be a number"):
        from_settings(Renamed, {name: "x"}, "a.yaml")


def test_both_names_of_a_setting_are_refused():
    with pytest.raises(
        PolymodalError,
        match=r"^a\.yaml has both heft and weight, an old and a new name of one setting\. Leave one out",
    ):
        from_settings(Renamed, {"weight": 2.0, "heft": 2.0}, "a.yaml")
