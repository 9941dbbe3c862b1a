"""A user's own scans as the data of the training have them: from files or arrays, slices or volumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float32, Shaped

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_files import Scan, numbers_of, read_scan, scaled
from polymodal.data.scan_scales import FileRule
from polymodal.data.scan_sizes import fitted, restored

LAST = 2
"""The axis of a volume's file along which its planes lie, unless another is asked for."""


@dataclass(frozen=True)
class Given:
    """Scans to be segmented: one slice, one volume, or the planes of a volume one by one."""

    values: dict[str, Float32[np.ndarray, "p c *grid"]]
    """Of each modality; p is 1 unless they are planes of a volume."""
    sides: tuple[int, ...]
    """Of a slice, a plane or a volume as it was given."""
    along: int | None
    """Along which axis of the array planes lie; None where they are not of a volume."""

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    @property
    def grid(self) -> tuple[int, ...]:
        """What the network is to see at once."""
        return next(iter(self.values.values())).shape[2:]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a slice or volume as it was given; of planes their number first."""
        return self.sides if self.along is None else (len(self), *self.sides)

    def picture(self) -> Float32[np.ndarray, "*shape"]:
        """The first scan as it was given, without its other channels."""
        return self.back(next(iter(self.values.values()))[:, 0])

    def back(self, told: Shaped[np.ndarray, "p *c_grid"]) -> Shaped[np.ndarray, "..."]:
        """What is told of each plane in the size and the order in which planes were given."""
        if told.shape[-len(self.sides) :] != self.sides:
            told = restored(told, self.sides)
        if self.along is None:
            return told[0]
        channels = told.ndim - 1 - len(self.sides)
        return np.moveaxis(told, 0, channels + self.along)


def read_scans(
    scans: Mapping[str, Any],
    learned: Mapping[str, Any],
    *,
    exact: bool,
    axis: int | None = None,
    size: Sequence[int] | None = None,
) -> Given:
    """The scans of a mapping, in the order of the model's modalities.

    Args:
        scans: of each modality its array (the grid, or channels first), its file, or what was read of it.
        learned: what the model knows of its data.
        exact: whether the scale of files matters.
        axis: of a volume's file, along which its planes lie, for a model of slices.
        size: height and width that planes are brought to.
    """
    channels = learned["channels"]
    if not scans or (strange := set(scans) - set(channels)):
        told = f"found {', '.join(sorted(strange))}" if scans else "there is none"
        raise PolymodalError(
            f"This model segments with any of {', '.join(channels)}; {told}. Give one of them at least, "
            'as segment({"' + next(iter(channels)) + '": …}).'
        )
    check_axis(axis, len(learned["grid"]))
    found = {
        name: read_one(scans[name], name, learned, exact=exact, axis=axis, size=size)
        for name in channels
        if name in scans
    }
    if len({own.shape for own in found.values()}) > 1:
        told = ", ".join(f"{name} {'×'.join(map(str, own.shape))}" for name, own in found.items())
        raise PolymodalError(
            f"The scans show the same places, so they have one size; found {told}. Resample them."
        )
    first = next(iter(found.values()))
    return replace(first, values={name: own.values[name] for name, own in found.items()})


def read_one(
    given: Any,
    name: str,
    learned: Mapping[str, Any],
    *,
    exact: bool,
    axis: int | None,
    size: Sequence[int] | None,
) -> Given:
    """One modality, resized as the numbers of its file and then scaled, as the data were."""
    scan = opened(given)
    rule = FileRule(**learned.get("files", {}).get(name, {}))
    dims, along = len(learned["grid"]), None
    if dims == 2 and (axis is not None or scan.affine is not None):
        along = 2 - (LAST if axis is None else axis)  # arrays have the axes of files backwards
    items = items_of(numbers_of(scan, name, rule), name, learned["channels"][name], dims, along)
    sides = items.shape[2:]
    if size is not None and sides != tuple(size):
        items = fitted(items, size)
    values = scaled(items, scan, name, rule, exact=exact).astype(np.float32)
    return Given({name: values}, sides, along)


def items_of(
    values: Shaped[np.ndarray, "..."], name: str, channels: int, dims: int, along: int | None
) -> Shaped[np.ndarray, "p c *grid"]:
    """An array as a slice or volume of its channels, or as planes along one of its axes."""
    items = values[None]
    if along is not None:
        if values.ndim != 3:
            raise PolymodalError(
                f"axis is for volumes, but the scan of {name} has the shape {list(values.shape)}. Leave "
                "it out."
            )
        items = np.moveaxis(values, along, 0)[:, None]
    elif values.ndim == dims and channels == 1:
        items = values[None, None]
    if items.ndim != dims + 2 or items.shape[1] != channels or items.dtype.kind not in "fiub":
        planes = along is None and dims == 2 and values.ndim == 3
        more = " An array of planes needs axis." if planes else ""
        raise PolymodalError(
            f"A scan of {name} has {channels} channel{'s' if channels > 1 else ''} of {dims} sides; found "
            f"{values.dtype} of shape {list(values.shape)}.{more}"
        )
    if not np.isfinite(items).all():
        raise PolymodalError(f"The scan of {name} has values that are no numbers.")
    return items


def check_axis(axis: int | None, dims: int) -> None:
    """Refuse an axis that no volume has, or that is asked of a model of volumes."""
    if axis is None:
        return
    if axis not in (0, 1, LAST):
        raise PolymodalError(f"axis is one of a volume's file: 0, 1 or 2, not {axis}.")
    if dims == 3:
        raise PolymodalError(
            "This model segments volumes whole, so that no axis can be asked for. Leave it out."
        )


def opened(scan: Any) -> Scan:
    """What stands in a file; an array is as one in .npy."""
    if isinstance(scan, np.ndarray):
        return Scan(None, scan)
    return scan if isinstance(scan, Scan) else read_scan(scan)
