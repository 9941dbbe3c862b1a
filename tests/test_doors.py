"""Walks every import of the package and fails on a door between rooms that the design does not have."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import polymodal

ROOT = Path(polymodal.__file__).parent

COMMON = {"errors", "files", "catalogue", "config"}
"""Open to all: they know nothing of learning."""

EVERYTHING = {"*"}

DOORS: dict[str, set[str]] = {
    # the common rooms themselves
    "errors": set(),
    "files": set(),
    "catalogue": set(),
    "config": set(),
    # values and pure functions of score matrices
    "gaussian": set(),
    "similarity": {"gaussian"},
    "information": set(),
    "likelihoods": set(),
    "ranking": set(),  # losses of a score matrix, as `information` holds its bounds
    "contrastive": {"ranking"},  # (which pairs are negatives)
    # leaves that tell or join something and know no model
    "distributed": set(),
    "hardware": set(),
    "recording": set(),
    "tables": set(),
    "results": {"tables"},  # a result file is shown as a table
    # what models are made of
    "data": set(),
    "nn": {"gaussian"},
    "metrics": {"gaussian", "similarity"},
    "retrieval": {
        "data",
        "nn",
        "metrics",
        "similarity",
        "ranking",
        "contrastive",
        "distributed",
        "gaussian",
        "search",
    },
    "systems": {
        "retrieval",  # what VSE++ and its Gaussian relatives share
        "recording",  # whose steps are one graph
        "recognition",  # what learners of features share
        "data",
        "nn",
        "metrics",
        "similarity",
        "ranking",
        "distributed",
        "gaussian",
        "information",
        "likelihoods",
    },
    "recognition": {"data", "nn", "metrics", "recording", "information"},
    # what trains them and knows none by name
    "checkpoints": set(),
    "progress": set(),
    "survival": {"checkpoints", "training", "hardware"},  # (training: its type alone)
    "training": {"data", "checkpoints", "progress", "survival", "hardware", "recording"},
    "runs": {"polymodal"},  # its version
    # (report: its sheet of pictures; jobs, loading: where an encoder and its data are opened)
    "diagnosis": {
        "data",
        "nn",
        "information",
        "metrics",
        "recognition",
        "runs",
        "models",
        "loading",
        "jobs",
        "hardware",
        "progress",
        "report",
    },
    "search": {"gaussian", "similarity"},
    # the papers' pictures, of trained systems
    "figures": {"systems", "metrics", "data", "gaussian"},
    # what joins data, system and trainer, for commands and studies
    "models": {"systems", "runs"},  # (a shipped model is made of a run)
    "loading": {"systems", "runs", "models", "hardware"},
    # (nn: features are computed by an encoder alone)
    "jobs": {
        "systems",
        "models",
        "data",
        "nn",
        "training",
        "runs",
        "loading",
        "hardware",
        "progress",
    },
    # (retrieval, recognition, diagnosis: what is asked of a trained system)
    "studies": {
        "systems",
        "retrieval",
        "recognition",
        "diagnosis",
        "ranking",
        "training",
        "data",
        "results",
        "figures",
    },
    "reproduction": {"studies", "runs", "jobs", "loading", "results"},
    # what joins a run, its data and an index
    "indexing": {
        "retrieval",
        "data",
        "similarity",
        "runs",
        "loading",
        "jobs",
        "search",
        "progress",
        "report",
    },
    # what people touch
    "cli": EVERYTHING,
    "studio": EVERYTHING,
    "report": EVERYTHING,
    "demo": EVERYTHING,
    "__main__": {"cli"},
    "polymodal": {"loading", "diagnosis"},  # `polymodal.load`, `polymodal.diagnose`
}

HEAVY = {
    "tyro",
    "zuko",
    "faiss",
    "transformers",
    "matplotlib",
    "fastapi",
    "pymilvus",
    "milvus_lite",
}
"""Slow to import, or absent where only training is done."""


def module_name(path: Path) -> str:
    """`polymodal.data.loading` of its file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}


def room(module: str) -> str:
    """The first part of a module's name within the package."""
    return module.split(".")[1] if "." in module else "polymodal"


def imported(name: str, source: str) -> Iterator[str]:
    """Every module of the package that a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "polymodal")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # as from a module; no package has any
                base = ".".join([*name.split(".")[: -node.level], base]).rstrip(".")
            if base.split(".")[0] == "polymodal":
                for alias in node.names:
                    within = f"{base}.{alias.name}"
                    yield within if within in SOURCES else base


def closed_doors(name: str, source: str) -> list[str]:
    """The imports of a module that the table does not allow."""
    here = room(name)
    if here not in DOORS:
        return [f"{name}: the room {here!r} is not in the table; give it its doors"]
    found = []
    for target in imported(name, source):
        there = room(target)
        if here == there == "systems":
            if target != "polymodal.systems" and own(name) != own(target):
                found.append(f"{name} imports {target}: systems never import each other")
        elif there not in {here} | COMMON | DOORS[here] and DOORS[here] != EVERYTHING:
            found.append(f"{name} imports {target}: {here} has no door to {there}")
    return found


def own(name: str) -> str:
    """The system that a module belongs to, which may be a package."""
    return ".".join(name.split(".")[:3])


def at_import(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is imported: not those of functions, nor for types alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody"):
                yield from at_import(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from at_import(handler.body)


def heavy(source: str) -> set[str]:
    """The heavy packages that a module imports as it is imported."""
    found = set()
    for node in at_import(ast.parse(source).body):
        names = (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
        found |= {name.split(".")[0] for name in names} & HEAVY
    return found


def test_every_door_is_in_the_table():
    found = [flaw for name, source in SOURCES.items() for flaw in closed_doors(name, source)]
    assert not found, "\n".join(found)


def test_the_walk_sees_the_whole_house():
    here = {room(name) for name in SOURCES}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in ROOT.glob("*/*.py")}
    assert here == modules | packages | {"polymodal"}
    seen = {
        (room(name), room(t)) for name, source in SOURCES.items() for t in imported(name, source)
    }
    known = {("systems", "nn"), ("training", "data"), ("jobs", "systems"), ("loading", "runs"),
             ("metrics", "similarity"), ("polymodal", "loading"), ("cli", "jobs")}  # fmt: skip
    assert known <= seen


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("polymodal.data.new", "def f():\n    from polymodal.nn.images import ConvNet"),
        ("polymodal.data.new", "from polymodal import systems"),
        ("polymodal.data.new", "import polymodal.training"),
        ("polymodal.data.new", "from ..nn import images"),
        ("polymodal.nn.new", "if TYPE_CHECKING:\n    from polymodal.data.records import Dataset"),
        ("polymodal.systems.new", "from polymodal.systems.vse import VSE"),
        ("polymodal.systems.new", "from polymodal.systems import vse"),
        ("polymodal.training", "from polymodal.systems import named"),
        ("polymodal.utils", "import os"),
    ],
)
def test_closed_doors_are_found(name, source):
    assert closed_doors(name, source)


def test_open_doors_are_open():
    assert not closed_doors("polymodal.systems.new", "from polymodal.nn.images import ConvNet")
    assert not closed_doors("polymodal.systems.new.parts", "from polymodal.systems.new import a")
    assert not closed_doors("polymodal.nn.new", "from polymodal.errors import unknown")


def test_heavy_packages_wait_until_they_are_needed():
    found = {name: heavy(source) for name, source in SOURCES.items() if room(name) != "cli"}
    early = [f"{name} imports {', '.join(sorted(at))}" for name, at in found.items() if at]
    assert not early, "\n".join(early)


def test_heavy_imports_are_found():
    assert heavy("try:\n    import faiss.contrib\nexcept ImportError:\n    pass") == {"faiss"}
    assert heavy("class A:\n    from tyro import cli") == {"tyro"}
    assert not heavy("def f():\n    import zuko")
    assert not heavy("if TYPE_CHECKING:\n    import transformers")


@pytest.mark.parametrize("module", ["polymodal", "polymodal.cli", "polymodal.cli.train"])
def test_torch_is_not_imported_with(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
