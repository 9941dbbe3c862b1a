"""Pages that stay true: their tables come from result files, their links and verbs exist."""

import re
import shutil
from pathlib import Path

import pytest

from polymodal import cli
from polymodal.base import catalogue
from polymodal.studies import result_files as results

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FILES = sorted(ROOT.glob("results/**/*.json"))


def test_there_are_pages_and_result_files():
    assert PAGES
    assert FILES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_result_files(page, tmp_path):
    copy = shutil.copy(page, tmp_path / page.name)
    results.render_into(Path(copy), ROOT)
    assert Path(copy).read_text("utf-8") == page.read_text("utf-8"), (
        f"`polymodal results --page {page.relative_to(ROOT)}` brings it up to date"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_verbs_exist(page):
    verbs = catalogue.names(cli.__path__)
    for verb in re.findall(r"^polymodal ([a-z]+)", page.read_text("utf-8"), re.MULTILINE):
        assert verb in verbs, verb


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_result_files_have_the_schema(file):
    found = results.read(file)
    folder = file.relative_to(ROOT / "results").parts[0]  # one below may name the data
    assert found.study == f"{folder}/{file.stem}"
    assert found.command.startswith("polymodal reproduce ")
    assert {row.name for row in found.rows}
    assert all(value == value for row in found.rows for value in row.metrics.values())
