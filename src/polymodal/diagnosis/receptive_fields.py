"""What each place of a network's maps sees of the picture, found by trying.

A pixel that is not a number makes every place that sees it not a number either, through convolutions,
poolings and ReLUs alike, whatever the weights: so a row of them shows exactly which places see the row.
Only a comparison, as in x > 0, hands nothing on, and hides what is seen through it.
"""

import copy

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.scratch import Window

ROWS = 8
"""Rows that are tried at once."""


@torch.no_grad()
def measured(maps: nn.Module, size: int) -> Window | None:
    """What a place of square maps sees of size × size pixels, or none if each sees all of them.

    Rows and columns are taken to be alike.
    """
    # on the CPU and in double precision each number is made of what it sees alone, not of whole tiles
    network = copy.deepcopy(maps).cpu().double().eval()
    chance = torch.Generator().manual_seed(0)
    picture = torch.randn(1, 3, size, size, generator=chance, dtype=torch.double)
    if not network(picture).isfinite().all():
        raise PolymodalError("Some features are not finite numbers. Look at the encoder first.")
    if seen(network, picture, torch.tensor([0, size - 1])).all():
        return None
    rows = torch.arange(size)
    return fitting(torch.cat([seen(network, picture, some) for some in rows.split(ROWS)]))


def seen(
    maps: nn.Module, picture: Float[Tensor, "1 3 size size"], rows: Int[Tensor, " r"]
) -> Bool[Tensor, "r h"]:
    """Which rows of maps see each of some rows of pixels."""
    tried = picture.repeat(len(rows), 1, 1, 1)
    tried[torch.arange(len(rows)), :, rows] = torch.nan
    reached: Tensor = maps(tried).isnan().any(3).any(1)
    return reached


def fitting(sees: Bool[Tensor, "size h"]) -> Window:
    """The window of all places, where they are alike and evenly spread.

    It spans all that a place sees, whatever a dilated convolution leaves out. What is cut off at the rim of
    the picture is not known: only ends within it are counted.
    """
    size, places = sees.shape
    rows, numbers, blind = torch.arange(size)[:, None], torch.arange(places), ~sees.any(0)
    low = sees.int().argmax(0)
    high = size - 1 - sees.flip(0).int().argmax(0)
    begun, ended = (low > 0) & ~blind, (high < size - 1) & ~blind
    for ends, known in ((low, begun), (high, ended)):
        if known.sum() > 1 and begun.any() and ended.any():
            first, second = numbers[known][:2].tolist()
            step = int(ends[second] - ends[first]) // (second - first)
            start = int((low - step * numbers)[begun][0])
            last = int((high - step * numbers)[ended][0])
            window = Window(size=last - start + 1, step=step, start=start)
            spanned = (rows >= low) & (rows <= high) & ~blind
            if torch.equal(looked_through(window, size, places), spanned):
                return window
    raise PolymodalError(
        "What the places of this network's maps see of the picture could not be told: they are not "
        "alike, or see nearly all of it. Say it with `window`."
    )


def looked_through(window: Window, size: int, places: int) -> Bool[Tensor, "size h"]:
    """Which rows of pixels each row of places sees."""
    first = window.start + window.step * torch.arange(places)
    rows = torch.arange(size)[:, None]
    return (rows >= first) & (rows < first + window.size)


def cell(size: int, places: int) -> Window:
    """By convention, its own share of the picture for each place; a patch, for a vision transformer."""
    if size % places:
        raise PolymodalError(
            f"{places} places a side do not divide {size} pixels evenly, so that none has a share of "
            "its own. Give pictures of another size, or say what a place sees with `window`."
        )
    return Window(size=size // places, step=size // places)
