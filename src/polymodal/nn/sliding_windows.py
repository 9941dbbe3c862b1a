"""A large scan window by window: windows overlap, and the middle of a window counts most."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

import torch
from jaxtyping import Float
from torch import Tensor

SPREAD = 1 / 8
"""Standard deviation of a window's weights, as a share of its side (nnU-Net's)."""

LEAST = 1e-3
"""Smallest weight, as a share of the largest: places that windows reach with their corners alone."""

Chances = Callable[[list[Tensor]], Tensor]
"""From scans of some windows, `w c *window`, to what is told of them, `s w k *window`."""


def slide(
    chances: Chances,
    scans: Sequence[Float[Tensor, "b _ *grid"]],
    size: Sequence[int],
    *,
    overlap: float = 0.25,
    at_once: int = 1,
) -> Float[Tensor, "s b k *grid"]:
    """What is told of each place of the scans, the mean over windows, by their weights.

    Args:
        chances: of the same window of each item, `at_once` windows one after another: those of the
            first window of all items, then of the second, …
        scans: of each modality.
        size: of a window; at most the grid.
        overlap: how much of a window's side the next one shares.
        at_once: windows that are computed together.
    """
    b, grid = len(scans[0]), scans[0].shape[2:]
    places = list(windows(grid, size, overlap))
    if len(places) == 1:
        return chances([scan[(slice(None), slice(None), *places[0])] for scan in scans])
    weight = weights(size).to(scans[0].device)
    total, count = torch.zeros(()), torch.zeros(tuple(grid), device=weight.device)
    for some in batched(places, at_once):
        found = chances(
            [torch.cat([scan[(slice(None), slice(None), *own)] for own in some]) for scan in scans]
        )
        if not total.ndim:
            total = found.new_zeros(len(found), b, found.shape[2], *grid)
        for own, each in zip(some, found.split(b, 1), strict=True):
            total[(slice(None), slice(None), slice(None), *own)] += weight * each
            count[own] += weight
    return total.div_(count)


def weights(size: Sequence[int]) -> Float[Tensor, "*window"]:
    """The weight of each place of a window: a Gaussian around its middle, 1 at most.

    >>> weights([3]).tolist() == weights([3]).flip(0).tolist()
    True
    """
    found = torch.ones(())
    for side in size:
        away = (torch.arange(side) - (side - 1) / 2) / (SPREAD * side)
        found = found[..., None] * (-0.5 * away.square()).exp()
    return (found / found.max()).clamp(min=LEAST)


def windows(
    grid: Sequence[int], size: Sequence[int], overlap: float = 0.25
) -> Iterator[tuple[slice, ...]]:
    """Windows of a size that cover a grid, evenly: neighbours share a part of their side at least.

    >>> [window[0] for window in windows([10], [6], 0.5)]
    [slice(0, 6, None), slice(2, 8, None), slice(4, 10, None)]
    """
    starts = []
    for side, own in zip(grid, size, strict=True):
        stride = max(1, int(own * (1 - overlap)))
        gaps = -(-(side - own) // stride)
        starts.append([round(n * (side - own) / gaps) for n in range(gaps + 1)] if gaps else [0])
    for corner in product(*starts):
        yield tuple(slice(start, start + own) for start, own in zip(corner, size, strict=True))


def batched(places: Sequence[tuple[slice, ...]], count: int) -> Iterator[list[tuple[slice, ...]]]:
    """So many at once, the rest at last."""
    rest = iter(places)
    while some := list(islice(rest, count)):
        yield some
