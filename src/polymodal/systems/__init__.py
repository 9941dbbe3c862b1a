"""The systems, one package a task, one module a system: its frozen `Config`, its `learn`, its `build`.

A system's module, `systems/TASK/NAME.py`, has
- `Config`: a frozen dataclass;
- `learn(config, train)`: what must be known of the training split before the system can be built
  (a vocabulary, the width of its features), as a JSON-able dict that is kept with the run;
- `build(config, learned)`: a `polymodal.training.system.System`.
"""

import importlib
from functools import cache
from pathlib import Path
from typing import Any

from polymodal.base import catalogue
from polymodal.base.errors import unknown


@cache
def packages() -> dict[str, str]:
    """The package of each system, by the system's name: every module of a task that defines `build`.

    >>> packages()["vse"]
    'polymodal.systems.retrieval'
    """
    by_name = {}
    for task in catalogue.names(__path__):
        folder = Path(__path__[0]) / task
        for name in catalogue.names([str(folder)]):
            if "\ndef build(" in catalogue.source([str(folder)], name):
                by_name[name] = f"{__name__}.{task}"
    return dict(sorted(by_name.items()))


def names() -> list[str]:
    """Every system there is.

    >>> "vse" in names()
    True
    """
    return list(packages())


def summaries() -> dict[str, str]:
    """What each system is, in a line."""
    here = Path(__path__[0])
    return {
        name: catalogue.docstring([str(here / package.rpartition(".")[2])], name).partition("\n")[0]
        for name, package in packages().items()
    }


def system_named(name: str) -> Any:
    """The module of a system.

    >>> system_named("vse").Config.__name__
    'Config'
    """
    if name not in names():
        raise unknown("system", name, names())
    return importlib.import_module(f"{packages()[name]}.{name}")
