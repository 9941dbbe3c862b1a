"""What goes with accuracy over all rows of a table: correlations, and a scatter plot of them."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from polymodal.diagnosis.ratio import correlation
from polymodal.figures.scatter import Cloud, Dot, scatter
from polymodal.results import Metrics, Row

ACCURACY = "zsl_top1"


def all_related(
    rows: Sequence[Row], out: Path, *, axes: Mapping[str, str], **how: Any
) -> dict[str, Metrics]:
    """What goes with accuracy of several metrics, each over the rows that have it and with the name that
    it has in a plot; a plot each, named as they are, beside the file."""
    found: dict[str, Metrics] = {}
    for metric, axis in axes.items():
        having = [row for row in rows if metric in row.metrics]
        if having:
            of = related(having, out.with_name(metric), metric=metric, axis=axis, **how)
            found |= {f"{metric}, {scope}": one for scope, one in of.items()}
    return found


def related(
    rows: Sequence[Row],
    out: Path,
    *,
    metric: str,
    axis: str,
    aside: Sequence[str] = (),
    beyond: Sequence[str] = (),
    shown: str = "",
) -> dict[str, Metrics]:
    """Pearson's r of a metric and accuracy over the rows of each block, a row the mean of its seeds: of
    all but models `beyond` the thesis, of those with the basic encoder, and of these without models to be
    left `aside`; all drawn beside the file, with the r of those whose names begin as `shown`."""
    found: dict[str, Metrics] = {}
    clouds = []
    for block in dict.fromkeys(row.block or "" for row in rows):
        every = [dot(own, metric) for own in seeds_of(rows, block)]
        dots = [one for one in every if model_of(one.name) not in beyond]
        basic = [one for one in dots if one.name.startswith("basic/")]
        scopes = {
            block: dots,
            f"{block}, basic": basic,
            f"{block}, basic without {' '.join(aside)}": [
                one for one in basic if model_of(one.name) not in aside
            ],
        }
        strengths = {name: strength(some) for name, some in scopes.items()}
        found |= {name: one for name, one in strengths.items() if not math.isnan(one["r"])}
        r = strength([one for one in dots if one.name.startswith(shown)])["r"]
        told = "" if math.isnan(r) else f"{shown.rstrip('/')} r = {r:.2f}".lstrip()
        clouds.append(Cloud(title=block, note=told, dots=every))
    scatter(clouds, x=axis, y="zero-shot top-1 in %", out=out.with_suffix(".png"))
    return found


def seeds_of(rows: Sequence[Row], block: str) -> list[list[Row]]:
    """The rows of a block, those of one name together."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if (row.block or "") == block:
            groups.setdefault((row.name, row.data), []).append(row)
    return list(groups.values())


def dot(own: Sequence[Row], metric: str) -> Dot:
    """The mean over seeds of one row; its kind is its local loss."""
    x, y = (statistics.fmean(row.metrics[m] for row in own) for m in (metric, ACCURACY))
    name, _, loss = own[0].name.partition("+")
    return Dot(name=name, kind=loss or "no local loss", x=x, y=y)


def strength(dots: Sequence[Dot]) -> Metrics:
    """Pearson's r, which is nan of too few rows or of equal ones, its p, and of how many rows."""
    r, p = correlation(torch.tensor([d.x for d in dots]), torch.tensor([d.y for d in dots]))
    return {"r": r, "p": p, "rows": len(dots)}


def model_of(name: str) -> str:
    """The model of a row's name, without its encoder.

    >>> model_of("basic/VAE")
    'VAE'
    """
    return name.partition("/")[2]
