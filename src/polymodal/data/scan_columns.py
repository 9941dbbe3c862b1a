"""Which columns of a dataset are modalities, and the subsets of them that may be at hand."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Column
from polymodal.data.modalities import modalities
from polymodal.data.records import Dataset


def scan_names(dataset: Dataset, chosen: Sequence[str] = (), whom: str = "This") -> list[str]:
    """The columns that hold scans, channels first: those that are named, or all that have a name of
    their own. All show the same places."""
    names = list(chosen or modalities(dataset))
    if not names:
        raise PolymodalError(
            f"{whom} needs modalities, such as t1 and flair, but these data have only: "
            f"{', '.join(dataset.columns)}. Give data that have some, or name a column: --modalities."
        )
    if len(set(names)) < len(names):
        raise PolymodalError(f"A modality is named twice: {', '.join(names)}. Name each once.")
    grids = {name: row_shape(dataset.column(name, whom), name)[1:] for name in names}
    if len(set(grids.values())) > 1:
        told = ", ".join(f"{name} {'×'.join(map(str, grid))}" for name, grid in grids.items())
        raise PolymodalError(
            f"{whom} compares modalities place by place, so all have one grid; found {told}. Resample "
            "them to one."
        )
    return names


def row_shape(column: Column, name: str) -> tuple[int, ...]:
    """The shape of one scan: channels, then two or three sides."""
    there = column.present
    row = 0 if there is None else int(there.argmax())
    found = column.batch([row])
    shape = found.shape[1:] if isinstance(found, np.ndarray) else ()
    if len(shape) not in (3, 4):
        raise PolymodalError(
            f"The column {name!r} holds no scans: a scan is an array of channels and two or three sides, "
            f"but these have {len(shape)} axes. Name those that do: --modalities."
        )
    return tuple(shape)


def subsets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """All subsets but the empty one, small ones first.

    >>> subsets(["t1", "flair"])
    [('flair',), ('t1',), ('flair', 't1')]
    """
    ordered = sorted(names)
    return [own for size in range(1, len(ordered) + 1) for own in combinations(ordered, size)]


def subset_name(names: Sequence[str]) -> str:
    """What scores of a subset are called by.

    >>> subset_name(["t1", "flair"])
    'flair+t1'
    """
    return "+".join(sorted(names))
