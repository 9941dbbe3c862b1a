"""What a measure compares: points or Gaussians, on which side; and what it says of anything else."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian

Embeddings = Tensor | DiagonalGaussian
E = TypeVar("E", Tensor, DiagonalGaussian)

Kind = Literal["point", "Gaussian"]

POINTS: tuple[tuple[Kind, Kind], ...] = (("point", "point"),)
GAUSSIANS: tuple[tuple[Kind, Kind], ...] = (("Gaussian", "Gaussian"),)
MIXED: tuple[tuple[Kind, Kind], ...] = (("point", "Gaussian"), ("Gaussian", "point"))


@runtime_checkable
class Named(Protocol):
    """A measure that can say what it takes."""

    @property
    def name(self) -> str: ...
    @property
    def kinds(self) -> tuple[tuple[Kind, Kind], ...]:
        """The pairs of kinds that it compares, in its arguments' order."""

    @property
    def order(self) -> tuple[str, str]:
        """What its arguments are called."""


def kind_of(embeddings: Any) -> str:
    """The kind of some embeddings, or the name of their type if they are none."""
    if isinstance(embeddings, DiagonalGaussian):
        return "Gaussian"
    return "point" if isinstance(embeddings, Tensor) else type(embeddings).__name__


def check_kind(measure: Named, **given: Any) -> None:
    """Refuse embeddings of the wrong kind or width, by the measure's name; one side may come alone."""
    kinds = {side: kind_of(given[side]) for side in measure.order if side in given}
    places = [measure.order.index(side) for side in kinds]
    if not any([pair[p] for p in places] == list(kinds.values()) for pair in measure.kinds):
        wanted = " or ".join(
            f"{a} {measure.order[0]} with {b} {measure.order[1]}" for a, b in measure.kinds
        )
        seen = " and ".join(f"{kind} {side}" for side, kind in kinds.items())
        raise PolymodalError(
            f"{measure.name} compares {wanted}; found {seen}. "
            "A point is a tensor (a Gaussian's is its `.mean`), a Gaussian a DiagonalGaussian."
        )
    shapes = {side: tuple(given[side].shape) for side in kinds}
    widths = {shape[-1] for shape in shapes.values() if len(shape) == 2}
    if len(widths) != 1 or any(len(shape) != 2 for shape in shapes.values()):
        seen = " and ".join(f"{side} of shape {shape}" for side, shape in shapes.items())
        raise PolymodalError(
            f"{measure.name} needs rows of one width on both sides (m×d and n×d); found {seen}."
        )


def full(embeddings: E) -> E:
    """At least float32: half precision keeps too few digits of a squared distance."""
    return embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))


def joined(parts: Sequence[Any]) -> Embeddings:
    """Several batches of embeddings as one.

    >>> joined([torch.zeros(2, 3), torch.ones(1, 3)]).shape
    torch.Size([3, 3])
    """
    return torch.cat(list(parts)) if isinstance(parts[0], Tensor) else DiagonalGaussian.join(parts)
