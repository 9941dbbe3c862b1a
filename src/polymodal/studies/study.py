"""What a study is: a table or figure of a paper, its rows at several scales, and how they are measured.

A module of `seeds` has `STUDIES`, its studies by name; `gaussian.py`'s `table1` is `gaussian/table1`.
"""

import difflib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from polymodal.base import catalogue
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data import medical_sources
from polymodal.data.class_folder import READERS
from polymodal.data.sources import LOCATED, parse
from polymodal.studies import seeds
from polymodal.studies.result_files import Metrics, PaperRow, Row, labelled
from polymodal.training.training_config import Training

Probe = Callable[..., dict[str, float]]
"""Measures a trained system, given the splits of its data; then the recipe's `references`; and `out`, the
file to draw, if the study draws."""
Conclusion = Callable[[Sequence[Row], Path], Mapping[str, Metrics]]
"""Computes findings from all rows of a table together, and draws them beside the result file."""

PAPER = "paper"
"""The scale with the paper's own sizes, rates and epochs."""
SMALL = "small"
"""The scale for files of the user's own that two cores can train; also the block of such rows, which are
not compared with the paper's."""
QUICK = "quick"
"""The scale that proves the path in minutes; its figures mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A named, complete configuration: a row of a table."""

    name: str
    system: str
    model: Any
    training: Training
    encoder: str | None = None
    """A frozen image encoder whose features are computed once and shared by all rows."""
    regions: bool = False
    """Whether it is given the regions of the data, where the user names some."""
    first: "Recipe | None" = None
    """The phase before this one, whose weights it starts from."""
    parts: tuple[tuple[str, "Recipe"], ...] = ()
    """Parts of its model, each with the phase that trains it: with the first seed, the same for all."""
    references: tuple["Recipe", ...] = ()
    """Other systems that the probe needs, such as a judge: trained on the same data, with the first
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
    needs: tuple[str, ...] = ()
    """Columns that the data must have, such as a modality; on other data there is no such row."""
    of_scores: Callable[[Metrics], Metrics] | None = None
    """What the table takes of the scores of the run; by default all."""

    @property
    def label(self) -> str:
        """Its name, with its block."""
        return labelled(self.name, self.block)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The rows of a table at one size, and the data that they are for."""

    rows: tuple[Recipe, ...]
    data: tuple[str, ...] = ()
    """The default data; empty if the user must name some."""
    only: Literal["drawn", "files"] | None = None
    """The kind of data that it is for, drawn worlds or files of the user's own; by default any."""
    image_size: int | None = None
    """The size of the images that it is for; the user is told where theirs differ."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The paper's own figures for a table."""

    rows: tuple[PaperRow, ...]
    data: str = ""
    """How the names of the data begin that they are shown beside; by default any."""


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured of a table's rows; by default the scores of their runs on the test split."""

    split: str = "test"
    """The split whose scores are taken."""
    folds: bool = False
    """Whether to take the means over folds (of 1000 images), where the test split has several."""
    probe: Probe | None = None
    """What is measured in place of the scores of the run."""
    draws: bool = False
    """Whether the probe also draws a figure."""
    of_curves: Callable[[Sequence[Metrics]], dict[str, float]] | None = None
    """What is measured of the validations of the run, beside its scores."""
    conclusion: Conclusion | None = None
    """What is computed from all rows together."""
    from_studies: tuple[tuple[str, str], ...] = ()
    """Metrics that other studies have measured of the same rows, read from their result files in the same
    folder: the last part of each study's name, and its metric."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or figure of a paper."""

    about: str
    scales: Mapping[str, Scale]
    """Its rows by scale. Without `--scale`, a dataset has the first that is for its kind of data."""
    metrics: tuple[str, ...] = ()
    """The columns of the table, in order."""
    partly: bool = False
    """Whether some rows, or some data, have only some of them."""
    measuring: Measuring = field(default_factory=Measuring)
    paper: Paper | None = None


def scales_named(study: Study, name: str | None) -> list[Scale]:
    """The scale of this name; without a name, all in their order but the quick one."""
    if name is None:
        return [scale for key, scale in study.scales.items() if key != QUICK]
    if name not in study.scales:
        raise unknown("scale", name, study.scales)
    return [study.scales[name]]


def default_data(study: Study, name: str | None = None) -> tuple[str, ...]:
    """The default data of a scale, or of the study; empty if the user must name some."""
    return scales_named(study, name)[0].data


def scale_for(study: Study, data: str, name: str | None = None) -> Scale:
    """The scale of this name, or without a name the first that is for this kind of data."""
    kind = "files" if is_files(data) else "drawn"
    for scale in scales_named(study, name):
        if scale.only in (None, kind):
            return scale
    needed = (
        "files of your own: give --data, for instance folder:PATH"
        if kind == "drawn"
        else "a drawn world, whose objects are known: leave --data out, or give a world such as "
        + study.scales[QUICK].data[0]
    )
    what = "This study" if name is None else f"The scale {name!r}"
    raise PolymodalError(f"{what} is not for {data}. It needs {needed}.")


def is_files(data: str) -> bool:
    """Whether a dataset is files of the user's own, not a drawn world.

    >>> is_files("cub:CUB.zip,splits=xlsa17/CUB"), is_files("lgg:slices.zip"), is_files("birds,size=64")
    (True, True, False)
    """
    kind, colon, _ = parse(data)[0].partition(":")
    return bool(colon) and kind in ("folder", *LOCATED, *READERS, *medical_sources.FILES)


def size_hint(scale: Scale, data: str) -> str | None:
    """What to tell the user whose images are not of the size that a scale is for."""
    size = scale.image_size
    if size is None or parse(data)[1].get("size") == str(size):
        return None
    return (
        f"These rows are for images of {size}×{size}: add ',size={size}' to {data}, or the figures are "
        "not comparable."
    )


def matching(rows: Sequence[Recipe], patterns: Sequence[str]) -> tuple[Recipe, ...]:
    """The rows that some pattern matches, by name or by name and block; all where there are none."""
    for pattern in patterns:
        if not any(matches(row, pattern) for row in rows):
            raise no_row(rows, pattern)
    return tuple(
        row for row in rows if not patterns or any(matches(row, pattern) for pattern in patterns)
    )


def no_row(rows: Sequence[Recipe], pattern: str) -> PolymodalError:
    """An error that names the rows nearest to a pattern; all of them would fill a screen."""
    known = dict.fromkeys(name for row in rows for name in (row.name, row.label))
    near = difflib.get_close_matches(pattern.strip("*"), known)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return PolymodalError(
        f"No row matches {pattern!r}.{hint} A row is named like {rows[0].label!r}, and * stands for "
        "any text."
    )


def matches(row: Recipe, pattern: str) -> bool:
    """Whether a pattern such as 'basic/*' or '*(strong)' matches a row."""
    return fnmatchcase(row.name, pattern) or fnmatchcase(row.label, pattern)


def study_names() -> list[str]:
    """Every study there is.

    >>> "vse/coco" in study_names()
    True
    """
    return [
        f"{module}/{name}"
        for module in catalogue.names(seeds.__path__)
        for name in studies_of(module)
    ]


def studies_of(module: str) -> dict[str, Study]:
    """The studies of a module of `seeds`."""
    studies: dict[str, Study] = importlib.import_module(f"{seeds.__name__}.{module}").STUDIES
    return studies


def study_named(name: str) -> Study:
    """A study by its full name."""
    if name not in study_names():
        raise unknown("study", name, study_names())
    module, _, table = name.partition("/")
    return studies_of(module)[table]
