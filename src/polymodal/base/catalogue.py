"""What a package holds, read off its files: nothing is listed by hand, nothing is imported to list it."""

import ast
import pkgutil
from collections.abc import Sequence
from pathlib import Path


def names(package: Sequence[str]) -> list[str]:
    """The modules and packages of a package, given its `__path__`."""
    return sorted(module.name for module in pkgutil.iter_modules(package))


def summaries(package: Sequence[str]) -> dict[str, str]:
    """The first line of each one's docstring."""
    return {name: docstring(package, name).partition("\n")[0] for name in names(package)}


def docstring(package: Sequence[str], name: str) -> str:
    """The docstring of a module, without importing it (torch is slow to come)."""
    return ast.get_docstring(ast.parse(source(package, name))) or ""


def source(package: Sequence[str], name: str) -> str:
    """The text of a module, or of a package's `__init__`."""
    folder = Path(package[0])
    path = folder / f"{name}.py"
    path = path if path.exists() else folder / name / "__init__.py"
    return path.read_text("utf-8")
