"""Information between two maps of the same images, place by place (003, eq. 8.3.2 to 8.3.4).

A place of one map and the same place of the other are a true pair. Pairs drawn apart are the same
place of other images and, where asked for, other places of the same image. So a map of p places with
k of them costs b·p·(1 + k) scores, never the b²·p of every image with every other.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.information import Bound


@runtime_checkable
class Joining(Protocol):
    """A critic that scores rows beside each other, as concat-and-convolve does."""

    def halves(self, summary: Tensor, local: Tensor, /) -> tuple[Tensor, Tensor]:
        """What is computed of either alone."""

    def joined(self, rows: Tensor, columns: Tensor, /) -> Tensor:
        """The score of each half with the one beside it."""


@dataclass(frozen=True)
class Apart:
    """How many pairs are drawn apart for each true one."""

    others: int = 4
    """The same place of so many other images; all others, where the batch has no more."""
    elsewhere: int = 0
    """So many other places of the same image."""

    def shifts(self, images: int) -> list[int]:
        """By how many images the right map moves, for each negative; drawn anew, none twice."""
        return drawn(images, self.others)

    def jumps(self, places: int) -> list[int]:
        """By how many places it moves."""
        return drawn(places, self.elsewhere)


def drawn(count: int, most: int) -> list[int]:
    """Some of 1 … count − 1, in random order.

    >>> sorted(drawn(4, 10)), drawn(1, 10)
    ([1, 2, 3], [])
    """
    return (1 + torch.randperm(max(0, count - 1))[:most]).tolist()


def pair_scores(
    critic: Joining, left: Float[Tensor, "b p c"], right: Float[Tensor, "b q d"], apart: Apart
) -> Float[Tensor, "n k"]:
    """The scores of each place: with its own place of the right map first, then with others.

    A right map of one place, a global feature, stands beside every place of the left one.
    """
    if len(left) != len(right) or right.shape[1] not in (1, left.shape[1]):
        raise PolymodalError(
            "Maps are compared place by place, so both have the same images and places, or the right one "
            f"a single place; found {tuple(left.shape)} and {tuple(right.shape)}."
        )
    shifts, jumps = apart.shifts(len(left)), apart.jumps(right.shape[1])
    if not (shifts or jumps):
        raise PolymodalError(
            f"Of {len(left)} images and {right.shape[1]} places no pair can be drawn apart from "
            "the true ones. Give a larger batch, or ask for other places."
        )
    rows, columns = critic.halves(left, right)
    beside = [columns]
    beside += [columns.roll(shift, 0) for shift in shifts]
    beside += [columns.roll(jump, 1) for jump in jumps]
    return critic.joined(rows, torch.stack(beside)).flatten(1).T  # all of them in one product


def information(
    critic: Joining,
    left: Float[Tensor, "b p c"],
    right: Float[Tensor, "b q d"],
    *,
    apart: Apart,
    bound: Bound,
) -> Float[Tensor, ""]:
    """A lower bound on the information that a place of the left map has of the right one, in nats."""
    scores = pair_scores(critic, left, right, apart)
    true = torch.zeros_like(scores, dtype=torch.bool)
    true[:, 0] = True
    return bound(scores, true)


def rows_of(features: Float[Tensor, "b c *grid"]) -> Float[Tensor, "b p c"]:
    """A map as its places in rows; a vector as one place.

    >>> rows_of(torch.zeros(2, 3, 4, 5)).shape, rows_of(torch.zeros(2, 3)).shape
    (torch.Size([2, 20, 3]), torch.Size([2, 1, 3]))
    """
    return features.reshape(*features.shape[:2], -1).transpose(1, 2)


def some_places(count: int, most: int, device: torch.device) -> Int[Tensor, " p"] | None:
    """The places that are compared at this step, where a map has too many; None for all."""
    return torch.randperm(count)[:most].to(device) if count > most else None
