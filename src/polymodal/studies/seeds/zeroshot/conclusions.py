"""Correlations of metrics with accuracy over all rows of a table, and scatter plots of them."""

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from polymodal.diagnosis.parts_ratio import correlation
from polymodal.studies.figures.scatter_png import Cloud, Dot, scatter
from polymodal.studies.result_files import Metrics, Row

ACCURACY = "zsl_top1"


def all_related(
    rows: Sequence[Row], out: Path, *, axes: Mapping[str, str], **how: Any
) -> dict[str, Metrics]:
    """The correlations of several metrics with accuracy, each over the rows that have it; a scatter plot for
    each, named after it, beside the result file. `axes` has the label of each metric in its plot."""
    findings: dict[str, Metrics] = {}
    for metric, axis in axes.items():
        having = [row for row in rows if metric in row.metrics]
        if having:
            of = related(having, out.with_name(metric), metric=metric, axis=axis, **how)
            findings |= {f"{metric}, {scope}": one for scope, one in of.items()}
    return findings


def related(
    rows: Sequence[Row],
    out: Path,
    *,
    metric: str,
    axis: str,
    aside: Sequence[str] = (),
    told_classes: Sequence[str] = (),
    beyond: Sequence[str] = (),
    shown: str = "",
) -> dict[str, Metrics]:
    """Pearson's r of a metric and accuracy over the rows of each block, a row the mean of its seeds: of
    all but models `beyond` the thesis, of those with the basic encoder, of these without models to be left
    `aside`, and of these that are `told_classes` and the others; all drawn beside the file, with the r of
    those whose names begin as `shown`. Where there are several seeds, also the least and the most that any
    of them has by itself."""
    findings: dict[str, Metrics] = {}
    clouds = []
    for block in dict.fromkeys(row.block or "" for row in rows):
        in_block = [row for row in rows if (row.block or "") == block]
        thesis = [row for row in in_block if model_of(row.name).partition("+")[0] not in beyond]
        dots = dots_of(thesis, metric)
        scoped = partial(scopes, block=block, aside=aside, told_classes=told_classes)
        seeds = [
            scoped(dots_of([row for row in thesis if row.seed == seed], metric))
            for seed in sorted({row.seed for row in thesis})
        ]
        for name, some in scoped(dots).items():
            whole = strength(some)
            if not math.isnan(whole["r"]):
                findings[name] = whole | spread([strength(one[name])["r"] for one in seeds])
        r = strength([one for one in dots if one.name.startswith(shown)])["r"]
        note = "" if math.isnan(r) else f"{shown.rstrip('/')} r = {r:.2f}".lstrip()
        clouds.append(Cloud(title=block, note=note, dots=dots_of(in_block, metric)))
    scatter(clouds, x=axis, y="zero-shot top-1 in %", out=out.with_suffix(".png"))
    return findings


def scopes(
    dots: Sequence[Dot], block: str, aside: Sequence[str], told_classes: Sequence[str]
) -> dict[str, list[Dot]]:
    """The dots that are correlated: all, those of the basic encoder, and of these some models."""
    basic = [one for one in dots if one.name.startswith("basic/")]

    def some(models: Sequence[str], within: bool) -> list[Dot]:
        return [one for one in basic if (model_of(one.name) in models) == within]

    return {
        block: list(dots),
        f"{block}, basic": basic,
        f"{block}, basic without {' '.join(aside)}": some(aside, False),
        f"{block}, basic told classes": some(told_classes, True),
        f"{block}, basic not told classes": some(told_classes, False),
    }


def spread(by_seed: Sequence[float]) -> dict[str, float]:
    """The least and the most of several seeds; nothing of one, or where one has too few rows.

    >>> spread([-0.8, -0.9]), spread([-0.8])
    ({'r_least': -0.9, 'r_most': -0.8}, {})
    """
    if len(by_seed) < 2 or any(map(math.isnan, by_seed)):
        return {}
    return {"r_least": min(by_seed), "r_most": max(by_seed)}


def dots_of(rows: Sequence[Row], metric: str) -> list[Dot]:
    """A dot for every name and dataset."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.name, row.data), []).append(row)
    return [dot(seeds, metric) for seeds in groups.values()]


def dot(seeds: Sequence[Row], metric: str) -> Dot:
    """The mean over seeds of one row; its kind is its local loss."""
    x, y = (statistics.fmean(row.metrics[m] for row in seeds) for m in (metric, ACCURACY))
    name, _, loss = seeds[0].name.partition("+")
    return Dot(name=name, kind=loss or "no local loss", x=x, y=y)


def strength(dots: Sequence[Dot]) -> dict[str, float]:
    """Pearson's r, which is nan of too few rows or of equal ones, its p, and of how many rows."""
    r, p = correlation(torch.tensor([d.x for d in dots]), torch.tensor([d.y for d in dots]))
    return {"r": r, "p": p, "rows": len(dots)}


def model_of(name: str) -> str:
    """The model of a row's name, without its encoder.

    >>> model_of("basic/VAE")
    'VAE'
    """
    return name.partition("/")[2]
