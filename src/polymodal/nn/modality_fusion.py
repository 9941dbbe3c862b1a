"""One map of several modalities, any of which may be missing."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from polymodal.base.errors import unknown

Fusion = Callable[[Tensor, Tensor], Tensor]
"""From maps `b n c *grid` of n modalities, and of which of them there are in each of s subsets, to
maps `s b e *grid`."""


def mean(
    maps: Float[Tensor, "b n c *grid"], subsets: Bool[Tensor, "s b n"]
) -> Float[Tensor, "s b c *grid"]:
    """The mean of what there is; zero where there is nothing.

    >>> maps = torch.tensor([[[2.0], [6.0]]])
    >>> mean(maps, torch.tensor([[[True, True]], [[False, True]]])).flatten().tolist()
    [4.0, 6.0]
    """
    weights = subsets.to(maps.dtype)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("sbn,bn...->sb...", weights, maps)


def moments(
    maps: Float[Tensor, "b n c *grid"], subsets: Bool[Tensor, "s b n"]
) -> Float[Tensor, "s b e *grid"]:
    """Mean and variance of what there is, HeMIS's abstraction (Havaei et al., 2016, eq. 1, 2).

    The variance is 0 where there is one.

    >>> maps = torch.tensor([[[2.0], [6.0]]])
    >>> moments(maps, torch.tensor([[[True, True]], [[False, True]]])).tolist()
    [[[4.0, 4.0]], [[6.0, 0.0]]]
    """
    first = mean(maps, subsets)
    away = [  # subset by subset, so that no more than one copy of the maps is made at a time
        mean((maps - own[:, None]).square(), subset[None])[0]
        for own, subset in zip(first, subsets, strict=True)
    ]
    return torch.cat([first, torch.stack(away)], 2)


FUSIONS: dict[str, tuple[Fusion, int]] = {"mean": (mean, 1), "moments": (moments, 2)}
"""Each fusion, and how many times as wide its maps are."""


def named(name: str) -> tuple[Fusion, int]:
    """The fusion of a name, and how many times as wide its maps are."""
    if name not in FUSIONS:
        raise unknown("fusion", name, FUSIONS)
    return FUSIONS[name]
