"""Examples gathered from columns, and the batches that they come in.

Where the columns lie, with the host or on a device, changes no batch: `resident` gives the same
examples with their columns on a device, so that no batch waits for the host.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from polymodal.data.columns import Column
from polymodal.data.records import Dataset

Rows = Int[np.ndarray, " b"]

BLOCK = 1024
"""Rows that are read at once on their way to a device."""


class Batch:
    """The frozen dataclasses of a batch: all their fields are tensors, a row an example."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The same batch on another device."""
        moved = {k: v.to(device, non_blocking=non_blocking) for k, v in vars(self).items()}
        return type(self)(**moved)


@runtime_checkable
class Field(Protocol):
    """One field of every example."""

    def gather(self, rows: Rows) -> Shaped[Tensor, "b ..."]:
        """That of the examples at these places."""

    def resident(self, device: torch.device) -> "Field":
        """The same field on a device."""


@dataclass(frozen=True)
class Held:
    """A field that is kept whole, with the host or on a device: a batch is one gather."""

    values: Shaped[Tensor, "n ..."]

    def gather(self, rows: Rows) -> Shaped[Tensor, "b ..."]:
        """Those at these places."""
        return self.values[placed(rows, self.values.device)]

    def resident(self, device: torch.device) -> "Held":
        """The same values on a device."""
        return Held(self.values.to(device))


@dataclass(frozen=True)
class Asked:
    """A column that is read for every batch anew."""

    column: Column

    def gather(self, rows: Rows) -> Shaped[Tensor, "b ..."]:
        """Those at these places, zeros in place of what is missing."""
        return torch.from_numpy(self.column.batch(rows.tolist()))

    def resident(self, device: torch.device) -> Held:
        """All of the column on a device, as it is: pictures as bytes."""
        n = len(self.column)
        some = self.gather(np.arange(min(BLOCK, n)))
        values = torch.empty((n, *some.shape[1:]), dtype=some.dtype, device=device)
        values[: len(some)] = some
        for start in range(len(some), n, BLOCK):
            stop = min(start + BLOCK, n)
            values[start:stop] = self.gather(np.arange(start, stop))
        return Held(values)


@dataclass(frozen=True)
class ChannelsFirst:
    """Pictures `b h w c` seen as `b c h w`, without moving a byte: as convolutions like it best."""

    pictures: Field

    def gather(self, rows: Rows) -> Shaped[Tensor, "b c h w"]:
        """Those at these places."""
        return self.pictures.gather(rows).permute(0, 3, 1, 2)

    def resident(self, device: torch.device) -> "ChannelsFirst":
        """The same on a device."""
        return ChannelsFirst(self.pictures.resident(device))


def placed(rows: Rows, device: torch.device) -> Int[Tensor, " b"]:
    """Places on a device. From pinned memory they go there without a wait for the steps before, which
    would keep the next batches from being ready."""
    places = torch.from_numpy(rows)
    if device.type == "cuda":
        return places.pin_memory().to(device, non_blocking=True)
    return places.to(device)


class ColumnExamples:
    """Examples whose fields are gathered by the batch, all by the same rows."""

    kind: Any
    """What a batch is made of its fields by."""

    def __init__(self, dataset: Dataset, fields: Mapping[str, Field]) -> None:
        self.dataset, self.fields = dataset, dict(fields)
        self.kept: Self | None = None

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, indices: Rows) -> Any:
        """The examples at these places."""
        return self.kind(**{name: field.gather(indices) for name, field in self.fields.items()})

    def blocks(self, count: int | None = None, size: int = 256) -> Iterator[Any]:
        """The first examples, or all, in order, so many at once; from the device, if they are there."""
        source = self.kept or self
        last = len(self) if count is None else min(count, len(self))
        for start in range(0, last, size):
            yield source.block(np.arange(start, min(start + size, last)))

    def block(self, indices: Rows) -> Any:
        """What `blocks` gives of these places."""
        return self.batch(indices)

    def resident(self, device: torch.device) -> Self:
        """The same examples with their columns on a device."""
        moved = copy.copy(self)
        moved.fields = {name: field.resident(device) for name, field in self.fields.items()}
        self.kept = moved
        return moved


def field_of(dataset: Dataset, name: str, whom: str) -> Field:
    """A column as a field: pictures with their channels first, all else as it is."""
    asked = Asked(dataset.column(name, whom))
    return ChannelsFirst(asked) if name == "image" else asked


def examples_of(dataset: Dataset, *names: str, whom: str = "Training") -> ColumnExamples:
    """Examples of some columns, by their names; `NAME_present` says of which items NAME is there.

    Batches have a field `NAME_present` for every column that may lack some items, with zeros in
    place of what is missing.
    """
    fields: dict[str, Field] = {}
    for name in names:
        fields[name] = field_of(dataset, name, whom)
        present = dataset.columns[name].present
        if present is not None:
            fields[f"{name}_present"] = Held(torch.from_numpy(present))
    examples = ColumnExamples(dataset, fields)
    examples.kind = batch_of(tuple(fields))
    return examples


def batch_of(names: Sequence[str]) -> type[Batch]:
    """A kind of batch with these fields."""
    return make_dataclass("Columns", [(n, Tensor) for n in names], bases=(Batch,), frozen=True)
