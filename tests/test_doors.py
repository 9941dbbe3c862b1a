"""Walks every import of the package and fails on one that leads up, and on modules in a ring."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import polymodal

ROOT = Path(polymodal.__file__).parent

LAYERS = (
    "base",
    "maths",
    "data",
    "nn",
    "metrics",
    "search",
    "training",
    "systems",
    "runs",
    "diagnosis",
    "views",
    "studies",
    "polymodal",  # `polymodal.load`, `polymodal.diagnose`
    "cli",
    "__main__",
)
"""The rooms from the ground up: each imports those before it alone."""

HEAVY = {
    "tyro",
    "zuko",
    "faiss",
    "transformers",
    "matplotlib",
    "fastapi",
    "pymilvus",
    "milvus_lite",
    "nibabel",
}
"""Slow to import, or absent where only training is done."""


def module_name(path: Path) -> str:
    """`polymodal.data.batch_order` of its file."""
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
    """The imports of a module that lead up, or from one task's systems to another's."""
    here = room(name)
    if here not in LAYERS:
        return [f"{name}: the room {here!r} has no layer; give it its place"]
    found = []
    for target in imported(name, source):
        there = room(target)
        if there not in LAYERS[: LAYERS.index(here) + 1]:
            found.append(f"{name} imports {target}: {there} is not below {here}")
        if here == there == "systems" and task(target) and task(name) != task(target):
            found.append(f"{name} imports {target}: tasks never import each other")
    return found


def task(name: str) -> str:
    """The task that a module of `systems` belongs to."""
    return ".".join(name.split(".")[2:3])


def cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, however many steps it takes; each ring once."""
    found, left = [], {name: set(targets) for name, targets in imports.items()}
    while left:
        ends = [name for name, targets in left.items() if not targets & left.keys()]
        for name in ends:
            del left[name]
        if not ends:  # whoever is left is in a ring, or leads to one
            ring, name = [], min(left)
            while name not in ring:
                ring.append(name)
                name = min(left[name] & left.keys())
            found.append(ring[ring.index(name) :])
            del left[name]
    return found


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


def test_every_import_leads_down():
    assert not [door for name, source in SOURCES.items() for door in closed_doors(name, source)]


def test_no_modules_import_each_other():
    """A package's own `__init__` is no step: whoever imports a module of it has imported that."""
    imports = {name: set(imported(name, source)) - {name} for name, source in SOURCES.items()}
    assert not cycles(imports)


def test_a_file_s_name_says_what_it_holds_without_its_folder():
    """Commands, systems and papers have names of their own, which what is made for them may share."""
    named = ("polymodal.cli.", "polymodal.systems.", "polymodal.studies.seeds.")
    names = [
        name.rpartition(".")[2]
        for name in SOURCES
        if not name.startswith(named) and not (ROOT.parent / name.replace(".", "/")).is_dir()
    ]
    assert not [name for name in names if names.count(name) > 1]
    assert not {"settings", "utils", "helpers", "common", "places", "sheet"} & set(names)


def test_drawn_worlds_share_the_kernel_alone():
    """What is compiled is kept by a hash of its own folder and the kernel's."""
    home = "polymodal.data.drawn."
    for name, source in SOURCES.items():
        world = name.removeprefix(home).split(".")[0]
        if name.startswith(home):
            there = {
                t.removeprefix(home).split(".")[0] for t in imported(name, source) if home in t
            }
            assert there <= {world, "kernel"}, name


def test_rings_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["b", "c"]]
    assert not cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


def test_the_walk_sees_the_whole_house():
    here = {room(name) for name in SOURCES}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in ROOT.glob("*/*.py")}
    assert here == modules | packages | {"polymodal"} == set(LAYERS)
    seen = {
        (room(name), room(t)) for name, source in SOURCES.items() for t in imported(name, source)
    }
    known = {("systems", "nn"), ("training", "data"), ("runs", "systems"), ("views", "runs"),
             ("metrics", "maths"), ("polymodal", "runs"), ("cli", "runs")}  # fmt: skip
    assert known <= seen


def test_the_page_shows_the_layers():
    """The picture in docs/architecture.md, read upwards."""
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    shown = re.findall(r"^  │ (\w+) +│", page, re.MULTILINE)
    assert shown[::-1] == [name for name in LAYERS if (ROOT / name).is_dir()]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("polymodal.data.new", "def f():\n    from polymodal.nn.image_encoders import ConvNet"),
        ("polymodal.data.new", "from polymodal import systems"),
        ("polymodal.data.new", "import polymodal.training"),
        ("polymodal.data.new", "from ..nn import image_encoders"),
        (
            "polymodal.maths.new",
            "if TYPE_CHECKING:\n    from polymodal.data.records import Dataset",
        ),
        ("polymodal.systems.zeroshot.new", "from polymodal.systems.retrieval.vse import VSE"),
        ("polymodal.systems.zeroshot.new", "from polymodal.systems import retrieval"),
        ("polymodal.training", "from polymodal.systems import named"),
        ("polymodal.utils", "import os"),
    ],
)
def test_closed_doors_are_found(name, source):
    assert closed_doors(name, source)


def test_open_doors_are_open():
    new = "polymodal.systems.zeroshot.new"
    assert not closed_doors(new, "from polymodal.nn.image_encoders import ConvNet")
    assert not closed_doors(f"{new}.parts", "from polymodal.systems.zeroshot.fc import Config")
    assert not closed_doors("polymodal.nn.new", "from polymodal.base.errors import unknown")


def test_heavy_packages_wait_until_they_are_needed():
    found = {name: heavy(source) for name, source in SOURCES.items() if room(name) != "cli"}
    assert not {name: packages for name, packages in found.items() if packages}


def test_heavy_imports_are_found():
    assert heavy("try:\n    import faiss.contrib\nexcept ImportError:\n    pass") == {"faiss"}
    assert heavy("class A:\n    from tyro import cli") == {"tyro"}
    assert not heavy("def f():\n    import zuko")
    assert not heavy("if TYPE_CHECKING:\n    import transformers")


@pytest.mark.parametrize("module", ["polymodal", "polymodal.cli", "polymodal.cli.train"])
def test_torch_is_not_imported_with(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
