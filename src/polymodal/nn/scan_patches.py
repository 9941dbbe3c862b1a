"""Patches of scans to train on: all modalities and the mask of an item are cut at the same place."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor


def patches(
    scans: Sequence[Float[Tensor, "b _ *grid"]],
    mask: Int[Tensor, "b *grid"],
    side: int,
    share: float,
) -> tuple[list[Float[Tensor, "b _ *patch"]], Int[Tensor, "b *patch"]]:
    """A patch of each item at a place of its own, and of its mask.

    Args:
        scans: of each modality.
        mask: the class of each place, 0 for the background.
        side: of a patch; a shorter side of the scans is kept whole.
        share: how likely an item that has foreground gives a patch that holds some; all other
            patches lie anywhere.
    """
    size = [min(side, own) for own in mask.shape[1:]]
    places = [window(corner(own, size, share), size) for own in mask]
    cut = [
        torch.stack([item[(slice(None), *own)] for item, own in zip(scan, places, strict=True)])
        for scan in scans
    ]
    return cut, torch.stack([item[own] for item, own in zip(mask, places, strict=True)])


def corner(mask: Int[Tensor, "*grid"], size: Sequence[int], share: float) -> list[int]:
    """Where a patch begins. It is drawn from the generator of the host, whatever the device, so that
    the step's seed alone decides."""
    room = [own - side for own, side in zip(mask.shape, size, strict=True)]
    wanted = torch.rand(()) < share
    anywhere = [int(torch.randint(most + 1, ())) for most in room]
    if not wanted:
        return anywhere
    found = mask.nonzero()
    if not len(found):
        return anywhere
    held = found[int(torch.randint(len(found), ()))].tolist()
    before = [int(torch.randint(side, ())) for side in size]
    return [
        min(max(place - own, 0), most) for place, own, most in zip(held, before, room, strict=True)
    ]


def window(start: Sequence[int], size: Sequence[int]) -> tuple[slice, ...]:
    """The places of a patch.

    >>> window([2, 0], [3, 4])
    (slice(2, 5, None), slice(0, 4, None))
    """
    return tuple(slice(first, first + side) for first, side in zip(start, size, strict=True))
