"""Reliability diagrams: what answers claim and what is observed, a panel for each dataset and index."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polymodal.studies.figures.pixel_sheet import (
    ACCENT,
    HEAD,
    INK,
    MARGIN,
    RULE,
    SECOND,
    SMALL,
    SOFT,
    WIDTH,
    Sheet,
    points,
)
from polymodal.studies.result_files import Metrics, Row
from polymodal.systems.retrieval.sureness_probe import ENOUGH, NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP, LEFT, FOOT = 50, 80, 80
"""Pixels between panels, and for the numbers and names of their axes."""

BAND = 5
"""Points that a claim may be off."""

COLOURS = (ACCENT, SECOND, INK)
"""Of the seeds, in their order."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A bin of one seed."""

    seed: int
    claimed: float
    observed: float
    queries: float


def reliability_diagrams(rows: Sequence[Row], out: Path) -> dict[str, Metrics]:
    """Draw the bins of a hundred queries or more beside the result file, a row of panels a dataset; give
    the largest gap of each dataset and index over all seeds, and how many bins lie off the band."""
    findings: dict[str, Metrics] = {}
    data = list(dict.fromkeys(row.data for row in rows))
    wide = (WIDTH - 2 * MARGIN - GAP * (len(NAMES) - 1)) / len(NAMES)
    high = HEAD + wide - LEFT + FOOT
    sheet = Sheet(round(len(data) * high + MARGIN))
    for line, one in enumerate(data):
        for column, index in enumerate(NAMES):
            dots = [dot for row in rows if row.data == one for dot in dots_of(row, index)]
            off = [abs(dot.claimed - dot.observed) for dot in dots]
            findings[f"{one}, {index}"] = {
                "largest_gap": max(off, default=0.0),
                "bins": len(dots),
                "bins_off": sum(gap > BAND for gap in off),
            }
            left, top = MARGIN + column * (wide + GAP), MARGIN / 2 + line * high
            title = f"{one.partition(',')[0].partition(':')[0]}, {index}"
            images = f"{rows[0].metrics[f'{index}_images']:.0f} images"
            sheet.head(title, top, images, left=left, right=left + wide)
            panel(sheet.axes(left + LEFT, top + HEAD, wide - LEFT, wide - LEFT), dots)
    sheet.save(out.with_suffix(".png"))
    return findings


def dots_of(row: Row, index: str) -> list[Dot]:
    """The bins of a row in one index, those of a hundred queries or more."""
    places = [re.fullmatch(rf"{index}_bin_(\d+)_queries", name) for name in row.metrics]
    dots = [
        Dot(
            seed=row.seed,
            claimed=row.metrics[f"{index}_bin_{place[1]}_claimed"],
            observed=row.metrics[f"{index}_bin_{place[1]}_observed"],
            queries=row.metrics[place[0]],
        )
        for place in places
        if place
    ]
    return [dot for dot in dots if dot.queries >= ENOUGH]


def panel(axes: "Axes", dots: Sequence[Dot]) -> None:
    """The diagonal with its band, and the bins, a colour a seed."""
    axes.fill_between([0, 100], [-BAND, 100 - BAND], [BAND, 100 + BAND], color=RULE)
    axes.plot([0, 100], [0, 100], color=SOFT, linewidth=1)
    for number, seed in enumerate(sorted({dot.seed for dot in dots})):
        of_seed = [dot for dot in dots if dot.seed == seed]
        x, y = [dot.claimed for dot in of_seed], [dot.observed for dot in of_seed]
        axes.plot(x, y, "o-", color=COLOURS[number % 3], markersize=5, label=f"seed {seed}")
    axes.set(xlim=(0, 100), ylim=(0, 100))
    axes.set_xlabel("claimed, %", size=points(SMALL), color=SOFT)
    axes.set_ylabel("observed, %", size=points(SMALL), color=SOFT)
    axes.tick_params(labelsize=points(SMALL), colors=SOFT)
    if dots:
        axes.legend(frameon=False, fontsize=points(SMALL), loc="upper left")
