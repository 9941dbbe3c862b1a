"""The latent space of two dimensions (004, Fig. 1)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.studies.figures.mismatch import Mismatch, Mismatches, mismatches
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
from polymodal.systems.vlvae.vlvae_module import VLVAE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (0.5, 0.9, 0.99)
"""The shares of p(z|y) that its level sets hold."""


def figure1(
    system: VLVAE, dataset: Dataset, out: Path, *, pair: tuple[str, str] | None = None
) -> dict[str, float]:
    """Level sets of p(z|y) over the aggregate of its images' posteriors (004, Fig. 1 and §5.5; V4).

    The numbers are, for each text and in the mean, KL(aggregate ‖ p(z|y)) in nats, and the percentage
    of p(z|y) that lies outside what holds 99 % of the aggregate. They depend on how many images there
    are: islands of single images merge where there are more.

    Args:
        system: one of a latent variable of two dimensions.
        dataset: a split of few different texts, such as one-object's.
        out: the PNG to write.
        pair: the two texts of the large panel; the last and the first by default.
    """
    grid = mismatches(system, dataset)
    pair = pair or (grid.texts[-1], grid.texts[0])  # 'large blue' in blue, 'small red' in orange
    for text in pair:
        if text not in grid.texts:
            raise PolymodalError(
                f"The split has no image of {text!r}, so there is nothing to aggregate. Its texts "
                f"are: {', '.join(grid.texts)}."
            )
    draw(grid, pair, out)
    return grid.numbers


def draw(grid: Mismatches, pair: tuple[str, str], out: Path) -> None:
    """Two texts in a large panel, and each text in a small one."""
    sheet, top, left, large, gap = Sheet(878), 16 + HEAD, MARGIN + 44, 730, 64
    sheet.head(
        "What a text says of z, and what its images say",
        16,
        "lines hold 50, 90 and 99 % of p(z|y); shading: E[q(z|x)] over the images of y; KL in nats",
    )
    colours = dict.fromkeys(grid.texts, INK) | dict(zip(pair, (ACCENT, SECOND), strict=True))
    by_text = {one.text: one for one in grid.of}
    panel(sheet.axes(left, top + 4, large, large), grid, [by_text[text] for text in pair], colours)
    for k, text in enumerate(pair):
        sheet.write(text, left + 18, top + 20 + 32 * k, colour=colours[text], bold=True)
    columns = math.ceil(math.sqrt(len(grid.of)))
    first = left + large + gap
    side = (WIDTH - MARGIN - first - gap * (columns - 1)) / columns
    for k, one in enumerate(grid.of):
        row, column = divmod(k, columns)
        x, y = first + column * (side + gap), top + row * (side + gap + 16)
        sheet.write(one.text, x, y, colour=colours[one.text], bold=True, size=SMALL)
        sheet.write(f"KL {one.kl:.2f}", x + side, y, size=SMALL, align="right")
        panel(sheet.axes(x, y + 30, side, side), grid, [one], colours)
    sheet.save(out)


def panel(
    axes: "Axes", grid: Mismatches, shown: Sequence[Mismatch], colours: Mapping[str, str]
) -> None:
    """Some texts in one frame, each in its colour."""
    from matplotlib.colors import to_rgb

    axis, end = grid.axis, grid.axis[-1].item()
    for one in shown:
        shade = np.empty((len(axis), len(axis), 4))
        shade[..., :3] = to_rgb(colours[one.text])
        shade[..., 3] = 0.8 * (1 - one.aggregate_held).clamp_min(0).sqrt()
        axes.imshow(shade, extent=(-end, end, -end, end), origin="lower")
    for one in shown:
        axes.contour(
            axis, axis, one.posterior_held, LEVELS, colors=colours[one.text], linewidths=1.5
        )
    reach = frame(grid)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.tick_params(color=RULE, labelcolor=SOFT, labelsize=points(SMALL))
    axes.locator_params(nbins=5)
    axes.spines[:].set_color(RULE)


def frame(grid: Mismatches) -> float:
    """How far from 0, along either side, there is something to draw for any text."""
    dense = [one.posterior_held.minimum(one.aggregate_held) <= LEVELS[-1] for one in grid.of]
    drawn = torch.stack(dense).any(0)
    return 1.08 * grid.axis.abs()[drawn.any(0) | drawn.any(1)].max().item()
