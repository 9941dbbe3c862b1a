"""The seeds' tables and figures made again: each a list of recipes × seeds, one command each.

A module here has `STUDIES`, its studies by name; `gaussian.py`'s `table1` is `gaussian/table1`.
"""

import difflib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from polymodal.base import catalogue
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.class_folder import READERS
from polymodal.data.sources import parse
from polymodal.studies import seeds
from polymodal.studies.result_files import Metrics, PaperRow, Row, labelled
from polymodal.training.training_config import Training

Probe = Callable[..., dict[str, float]]
"""What is asked of a trained system, given the splits of its data and, where the recipe has one, the
system beside it; a figure is also told where to draw."""
Conclusion = Callable[[Sequence[Row], Path], Mapping[str, Metrics]]
"""What is found of all rows of a table together, and drawn of them."""

SMALL = "small"
"""The block of rows that are smaller than a paper's, which are not to be compared with its figures."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A named, complete configuration: a row of a table."""

    name: str
    system: str
    model: Any
    training: Training
    encoder: str | None = None
    """A frozen image encoder whose features are computed once and shared by all rows."""
    first: "Recipe | None" = None
    """The phase before this one, whose weights it starts from."""
    parts: tuple[tuple[str, "Recipe"], ...] = ()
    """Parts of its model, each with the phase that trains it: with the first seed, the same for all."""
    beside: "Recipe | None" = None
    """Another system that the probe needs, such as a judge: trained on the same data, with the first
    seed, and the same for all."""
    probe: Probe | None = None
    """What is measured of this row, in place of the study's own probe."""
    choices: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Settings that the validation split chooses, each with its values; of two phases, the first one's
    are chosen first."""
    block: str | None = None
    """The part of the table that it stands in, where rows of one name stand in several."""
    seeds: int | None = None
    """How many of the seeds it is trained with, at most."""

    @property
    def label(self) -> str:
        """Its name, with its block."""
        return labelled(self.name, self.block)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or figure of a seed document."""

    about: str
    recipes: tuple[Recipe, ...]
    worlds: tuple[Recipe, ...] = ()
    """The same rows for embedded worlds, where those need other settings."""
    small: tuple[Recipe, ...] = ()
    """The same rows for the user's own data, small enough for two cores."""
    small_size: int | None = None
    """Pixels of a side of the pictures that they are for."""
    at_scale: tuple[Recipe, ...] = ()
    """The same rows with the paper's own sizes, rates and epochs, for as much data as it had."""
    quick: tuple[Recipe, ...]
    """The same path in minutes on two cores."""
    quick_data: str
    data: tuple[str, ...] = ()
    """What it is made on; nothing where the user must say."""
    drawn: bool = False
    """Whether it needs the truth of a drawn world."""
    probe: Probe | None = None
    """What is measured; by default the scores of a run."""
    figure: Probe | None = None
    """What is drawn and measured, in place of a probe."""
    conclusion: Conclusion | None = None
    """What is found of all rows together."""
    split: str = "test"
    """The split whose scores the table has, where nothing else is measured."""
    folds: bool = False
    """Whether the table has means over folds (of 1000 images), where the test split has several."""
    paper: tuple[PaperRow, ...] = ()
    paper_on: str = ""
    """How the names of data begin that the paper's figures are of, where others are not to be compared."""
    metrics: tuple[str, ...] = ()
    """The metrics of the table, in its order."""
    gathers: tuple[tuple[str, str], ...] = ()
    """Metrics of other studies of the same rows, which join the table where their files lie beside its own:
    the last part of a study's name, and its metric."""


def rows_for(
    study: Study, data: str, *, quick: bool = False, small: bool = False, at_scale: bool = False
) -> tuple[Recipe, ...]:
    """The recipes of a study for a dataset, by whether it is the user's or a world."""
    if quick + small + at_scale > 1:
        raise PolymodalError(
            "--quick, --small and --at-scale exclude each other: give one of them."
        )
    if quick:
        return study.quick
    if small:
        if not brought(data):
            raise PolymodalError(
                f"--small is for data of your own, and {data} is drawn: give --data, or leave --small out."
            )
        if not study.small:
            raise PolymodalError(
                "This study has no small rows: leave --small out, or give --quick to prove its path."
            )
        return study.small
    if at_scale and study.at_scale:
        return study.at_scale
    return study.recipes if brought(data) or not study.worlds else study.worlds


def advice(study: Study, data: str) -> str | None:
    """What to say where pictures are not of the size that small rows are for."""
    size = study.small_size
    if size is None or parse(data)[1].get("size") == str(size):
        return None
    return (
        f"Small rows are for pictures of {size}×{size}: add ',size={size}' to {data}, or these are other "
        "rows."
    )


def brought(data: str) -> bool:
    """Whether a dataset is the user's own files, not a world.

    >>> brought("cub:CUB.zip,splits=xlsa17/CUB"), brought("birds,size=64")
    (True, False)
    """
    kind, colon, _ = parse(data)[0].partition(":")
    return bool(colon) and kind in ("folder", *READERS)


def matching(rows: Sequence[Recipe], patterns: Sequence[str]) -> tuple[Recipe, ...]:
    """The rows that some pattern matches, by name or by name and block; all where there are none."""
    for pattern in patterns:
        if not any(matches(row, pattern) for row in rows):
            raise no_row(rows, pattern)
    return tuple(
        row for row in rows if not patterns or any(matches(row, pattern) for pattern in patterns)
    )


def no_row(rows: Sequence[Recipe], pattern: str) -> PolymodalError:
    """Name the rows nearest to a pattern that matches none; all of them would fill a screen."""
    known = dict.fromkeys(name for row in rows for name in (row.name, row.label))
    near = difflib.get_close_matches(pattern.strip("*"), known)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return PolymodalError(
        f"No row matches {pattern!r}.{hint} A row is named like {rows[0].label!r}, and * stands for "
        "any text."
    )


def matches(row: Recipe, pattern: str) -> bool:
    """Whether a row is meant by a pattern such as 'basic/*' or '*(strong)'."""
    return fnmatchcase(row.name, pattern) or fnmatchcase(row.label, pattern)


def names() -> list[str]:
    """Every study there is.

    >>> "vse/coco" in names()
    True
    """
    return [
        f"{module}/{name}" for module in catalogue.names(seeds.__path__) for name in studies(module)
    ]


def studies(module: str) -> dict[str, Study]:
    """The studies of a module."""
    found: dict[str, Study] = importlib.import_module(f"{seeds.__name__}.{module}").STUDIES
    return found


def named(name: str) -> Study:
    """A study by its full name."""
    if name not in names():
        raise unknown("study", name, names())
    module, _, table = name.partition("/")
    return studies(module)[table]
