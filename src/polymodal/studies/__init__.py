"""The seeds' tables and figures made again: each a list of recipes × seeds, one command each.

A module here has `STUDIES`, its studies by name; `gaussian.py`'s `table1` is `gaussian/table1`.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from polymodal import catalogue, jobs
from polymodal.errors import PolymodalError, unknown
from polymodal.hardware import hardware
from polymodal.results import PaperRow, Results, Row, summary, write
from polymodal.runs import versions
from polymodal.training import Training


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A named, complete configuration: a row of a table."""

    name: str
    system: str
    model: Any
    training: Training
    encoder: str | None = None
    """A frozen image encoder whose features are computed once and shared by all rows."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table of a seed document."""

    about: str
    recipes: tuple[Recipe, ...]
    quick: tuple[Recipe, ...]
    """The same path in minutes on two cores."""
    quick_data: str
    data: str | None = None
    """What it is made on; None where the user must say."""
    paper: tuple[PaperRow, ...] = ()
    metrics: tuple[str, ...] = ()
    """The metrics of the table, in its order."""


def names() -> list[str]:
    """Every study there is.

    >>> "vse/coco" in names()
    True
    """
    return [f"{module}/{name}" for module in catalogue.names(__path__) for name in studies(module)]


def studies(module: str) -> dict[str, Study]:
    """The studies of a module."""
    found: dict[str, Study] = importlib.import_module(f"{__name__}.{module}").STUDIES
    return found


def named(name: str) -> Study:
    """A study by its full name."""
    if name not in names():
        raise unknown("study", name, names())
    module, _, table = name.partition("/")
    return studies(module)[table]


def reproduce(
    name: str,
    *,
    data: str | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    quick: bool = False,
    folder: Path = Path("runs/reproduce"),
    out: Path | None = None,
    accelerator: Literal["auto", "cpu", "gpu"] = "auto",
) -> Results:
    """Train every recipe with every seed, and write and print the table; killed, it goes on."""
    study = named(name)
    where = data or (study.quick_data if quick else study.data)
    if where is None:
        raise PolymodalError(f"{name} needs data: give --data, for instance folder:PATH.")
    if not seeds:
        raise PolymodalError("--seeds needs at least one seed, such as --seeds 0.")
    place = folder / (f"{name}-quick" if quick else name)
    rows, protocols = [], {}
    for recipe in study.quick if quick else study.recipes:
        features = features_of(where, recipe.encoder, place.parent) if recipe.encoder else None
        for seed in seeds:
            training = replace(recipe.training, seed=seed, accelerator=accelerator)
            jobs.say(f"{name}: {recipe.name}, seed {seed}")
            metrics = jobs.train(
                recipe.system,
                recipe.model,
                training,
                data=where,
                features=features,
                run=place / f"{recipe.name.replace(' ', '-')}-{seed}",
            )
            scores = metrics["scores"]["test"]
            rows.append(Row(name=recipe.name, data=where, seed=seed, metrics=scores))
            protocols[recipe.name] = metrics["protocol"]
    results = Results(
        study=name,
        command=jobs.command_line(),
        hardware=hardware(),
        versions=versions(),
        protocol=common(protocols),
        rows=rows,
        paper=study.paper,
    )
    write(out or place / "results.json", results)
    summary(results, study.metrics or None).print(f"{name}: {study.about}")
    return results


def features_of(data: str, encoder: str, folder: Path) -> Path:
    """The features of a dataset, computed once for all rows."""
    from polymodal.files import fingerprint

    place = folder / f"features-{fingerprint([data, encoder])}"
    jobs.compute_features(data, place, encoder)
    return place


def common(protocols: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What all rows' protocols share; what differs is listed by row, so that nobody overlooks it."""
    every = list(protocols.values())
    shared = {k: v for k, v in every[0].items() if all(p.get(k) == v for p in every)}
    shared.pop("seed", None)
    differing = {
        name: {k: v for k, v in protocol.items() if k not in shared and k != "seed"}
        for name, protocol in protocols.items()
    }
    return {**shared, **({"by_row": differing} if any(differing.values()) else {})}
