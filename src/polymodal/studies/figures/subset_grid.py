"""Dice with every subset of the modalities: a column a subset, a line a system."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polymodal.data.scan_columns import subset_name, subsets
from polymodal.studies.figures.pixel_sheet import (
    HEAD,
    INK,
    MARGIN,
    PLAIN,
    SMALL,
    SOFT,
    WIDTH,
    Sheet,
)
from polymodal.studies.result_files import Metrics, Row

LINE, DOT, LEFT, GAP = 64, 34, 150, 50
"""Pixels of a line of scores, of a line of dots, for names, and between datasets."""

LIGHT, DARK = (0.95, 0.96, 0.98), (0.12, 0.37, 0.66)
"""Colours of a Dice of 0 and of 100."""


def subset_grid(rows: Sequence[Row], out: Path) -> dict[str, Metrics]:
    """Draw the means over seeds beside the result file, a grid a dataset; give, for each system, how its
    Dice grows with the number of modalities."""
    grids: dict[str, list[Row]] = {}
    for row in rows:
        grids.setdefault(row.data, []).append(row)
    found: dict[str, Metrics] = {}
    sheet = Sheet(sum(height_of(own) + GAP for own in grids.values()) + MARGIN)
    top = MARGIN / 2
    for data, own in grids.items():
        known, means = means_of(own)
        draw(sheet, top, data, known, means)
        top += height_of(own) + GAP
        for name, dices in means.items():
            found[f"{name}, {data}"] = by_count(known, dices)
    sheet.save(out.with_suffix(".png"))
    return found


def means_of(rows: Sequence[Row]) -> tuple[list[tuple[str, ...]], dict[str, list[float]]]:
    """The subsets that every row has, small ones first, and the mean Dice over seeds of each system."""
    modalities = sorted(
        {
            name
            for row in rows
            for score in row.metrics
            if score.startswith("patients_")
            for name in score.removeprefix("patients_").split("+")
        }
    )
    known = [
        own
        for own in subsets(modalities)
        if all(f"dice_{subset_name(own)}" in row.metrics for row in rows)
    ]
    means = {
        name: [
            float(np.mean([r.metrics[f"dice_{subset_name(own)}"] for r in rows if r.name == name]))
            for own in known
        ]
        for name in dict.fromkeys(row.name for row in rows)
    }
    return known, means


def by_count(known: Sequence[tuple[str, ...]], dices: Sequence[float]) -> Metrics:
    """The mean Dice over all subsets of one modality, of two, …

    >>> by_count([("t1",), ("t2",), ("t1", "t2")], [10.0, 20.0, 40.0])
    {'of_1': 15.0, 'of_2': 40.0}
    """
    counts = sorted({len(own) for own in known})
    return {
        f"of_{n}": float(
            np.mean([dice for own, dice in zip(known, dices, strict=True) if len(own) == n])
        )
        for n in counts
    }


def height_of(rows: Sequence[Row]) -> int:
    """Pixels of a grid: a heading, a line of dots a modality, a line of scores a system."""
    known, means = means_of(rows)
    return HEAD + DOT * len({name for own in known for name in own}) + LINE * len(means)


def draw(
    sheet: Sheet,
    top: float,
    data: str,
    known: Sequence[tuple[str, ...]],
    means: dict[str, list[float]],
) -> None:
    """Dots say what is at hand; below them each system's Dice, the darker the higher."""
    sheet.head("Dice with every subset", top, data)
    wide = (WIDTH - 2 * MARGIN - LEFT) / max(1, len(known))
    middles = [MARGIN + LEFT + (n + 0.5) * wide for n in range(len(known))]
    line = top + HEAD
    for modality in sorted({name for own in known for name in own}):
        sheet.write(modality, MARGIN, line + 4, size=SMALL, colour=SOFT)
        for own, middle in zip(known, middles, strict=True):
            sheet.write("●" if modality in own else "○", middle, line + 4, align="center")
        line += DOT
    for name, dices in means.items():
        sheet.write(name, MARGIN, line + 20, size=PLAIN, bold=True)
        for middle, dice in zip(middles, dices, strict=True):
            box(sheet, middle, line, wide, dice)
        line += LINE


def box(sheet: Sheet, middle: float, top: float, wide: float, dice: float) -> None:
    """One score in its colour."""
    share = min(max(dice / 100, 0.0), 1.0)
    colour = tuple(a + (b - a) * share for a, b in zip(LIGHT, DARK, strict=True))
    left, right = middle - wide / 2 + 2, middle + wide / 2 - 2
    sheet.page.fill(
        [left, right, right, left], [top, top, top + LINE - 4, top + LINE - 4], color=colour
    )
    ink = "white" if share > 0.5 else INK
    sheet.write(f"{dice:.1f}", middle, top + 20, size=PLAIN, colour=ink, align="center")
