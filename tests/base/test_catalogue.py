"""What a package holds, read without importing it."""

from pathlib import Path

import pytest

from polymodal.base import catalogue


@pytest.fixture
def package(tmp_path: Path) -> list[str]:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "zebra.py").write_text('"""Stripes.\n\nMore of them."""\nraise RuntimeError')
    (tmp_path / "ape").mkdir()
    (tmp_path / "ape" / "__init__.py").write_text('"""Bananas."""')
    (tmp_path / "mute.py").write_text("x = 1")
    (tmp_path / "notes.txt").write_text("no module")
    return [str(tmp_path)]


def test_modules_and_packages_are_listed_by_alphabet(package):
    assert catalogue.names(package) == ["ape", "mute", "zebra"]


def test_summaries_are_first_lines(package):
    assert catalogue.summaries(package) == {"ape": "Bananas.", "mute": "", "zebra": "Stripes."}


def test_whole_docstrings(package):
    assert catalogue.docstring(package, "zebra") == "Stripes.\n\nMore of them."
