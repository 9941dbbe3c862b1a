"""Planes of volumes as slices: read once, when the data are opened, and kept in memory."""

from collections.abc import Sequence
from functools import partial as bound
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64, Shaped

from polymodal.data.columns import Column, Masks, Scans, Stored
from polymodal.data.formats.brats import SEG, Scan
from polymodal.data.modalities import TUMOUR
from polymodal.data.scan_scales import FileRule
from polymodal.data.side_by_side import each_read

LOWEST, HIGHEST = 0.2, 0.8
"""Planes lie between these shares of all, from the lowest."""


@runtime_checkable
class Reader(Protocol):
    """What reads volumes of scans."""

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The scans."""

    def one(self, kind: str, row: int) -> Shaped[np.ndarray, "d h w"]:
        """A modality or the mask of one scan."""


def planes_of(depth: int, count: int) -> Int64[np.ndarray, " s"]:
    """Which planes of a volume are taken, evenly apart.

    >>> planes_of(155, 4).tolist()
    [31, 62, 92, 123]
    """
    found: np.ndarray = np.rint(np.linspace(LOWEST, HIGHEST, count) * (depth - 1)).astype(np.int64)
    return found


def columns_of(
    reader: Reader,
    kinds: Sequence[str],
    planes: Int64[np.ndarray, " s"],
    rule: FileRule,
    progress: bool,
) -> dict[str, Column]:
    """The columns of all planes, scan after scan; an item of one scan follows that of the plane below.

    Args:
        reader: of the volumes.
        kinds: the modalities.
        planes: which planes are taken.
        rule: how values are made of files.
        progress: show a bar.
    """
    dtype = np.float32 if rule.scale == "own" else np.float16  # which holds shares of 1 well enough
    n, s = len(reader.scans), len(planes)
    stacked, all_masks = _read(reader, kinds, planes, dtype, progress)
    columns: dict[str, Column] = {}
    for k, kind in enumerate(kinds):
        there = np.repeat([kind in scan.files for scan in reader.scans], s)
        present = None if there.all() else there
        values = bound(some, stacked[:, k])
        columns[kind] = Scans(n * s, values, present=present, rule=rule)
    masks = Stored(all_masks.reshape(n * s, *stacked.shape[3:]))
    columns["mask"] = Masks(n * s, masks.batch, classes=TUMOUR)
    return columns


def _read(
    reader: Reader,
    kinds: Sequence[str],
    planes: Int64[np.ndarray, " s"],
    dtype: type,
    progress: bool,
) -> tuple[Shaped[np.ndarray, "n m s h w"], Shaped[np.ndarray, "n s h w"]]:
    """These planes of every modality and mask, zeros in place of a modality that a scan lacks."""

    def one(row: int) -> tuple[np.ndarray, np.ndarray]:
        mask = reader.one(SEG, row)[planes]
        values = np.zeros((len(kinds), *mask.shape), dtype)
        for k, kind in enumerate(kinds):
            if kind in reader.scans[row].files:
                values[k] = reader.one(kind, row)[planes]
        return values, mask

    rows = range(len(reader.scans))
    with each_read(one, rows, "Reading scans", progress=progress) as scans:
        found = [both for _, both in scans]
    return np.stack([values for values, _ in found]), np.stack([mask for _, mask in found])


def some(
    values: Shaped[np.ndarray, "n s h w"], rows: Sequence[int]
) -> Float32[np.ndarray, "b 1 h w"]:
    """Some planes of one modality."""
    scan, plane = np.divmod(np.asarray(rows, np.int64), values.shape[1])
    found: np.ndarray = values[scan, plane][:, None].astype(np.float32)
    return found
