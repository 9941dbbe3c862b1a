"""Pages that stay true: their tables come from result files, their links and verbs exist."""

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

import polymodal
from polymodal import cli
from polymodal.base import catalogue
from polymodal.studies import result_files as results

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FILES = sorted(ROOT.glob("results/**/*.json"))
PACKAGE = Path(polymodal.__file__).parent
HOUSE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


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
    found = results.read_results(file)
    folder = file.relative_to(ROOT / "results").parts[0]  # one below may name the data
    assert found.study == f"{folder}/{file.stem}"
    assert found.command.startswith("polymodal reproduce ")
    assert {row.name for row in found.rows}
    assert all(value == value for row in found.rows for value in row.metrics.values())


def test_files_and_rooms_of_the_architecture_exist():
    files = set(re.findall(r"(?<![\w./])[\w/]+\.py\b", HOUSE))
    folders = set(re.findall(r"`([\w/]+/)`", HOUSE))
    assert len(files) > 30
    assert len(folders) > 5
    for path in files | folders:
        there = "TASK" in path or (PACKAGE / path).exists() or (ROOT / path).exists()
        assert there, path


def test_functions_of_the_architecture_exist():
    """Named behind their file: `runs/jobs.py`, `train`."""
    named = re.findall(r"`([\w/]+\.py)`, `([\w.]+)`", HOUSE)
    assert len(named) > 40
    for path, name in named:
        assert name in defined(PACKAGE / path), f"{path}: {name}"


def defined(path):
    """The functions and classes of a module, and each class's own methods."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            inside = getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{n.name}" for n in inside if isinstance(n, ast.FunctionDef)}
    return found


def test_figures_of_the_architecture_are_those_of_the_file():
    """Each as "before → now"."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "journeys.json").read_text("utf-8"))[
        "rows"
    ]
    metrics = {(row["name"], row["when"]): row["metrics"] for row in rows}
    for name in dict.fromkeys(name for name, _ in metrics):
        before, now = metrics[name, "before"], metrics[name, "now"]
        told = {key: f"{before[key]:,} → {now[key]:,}" for key in now}
        if name == "size":
            assert all(text in HOUSE for text in told.values()), told
        else:
            assert f"| `{name}` | {' | '.join(told.values())} |" in HOUSE
