"""The segmentation of one slice or volume, from whichever modalities are at hand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_files import Scan, read_scan, values_of
from polymodal.data.scan_scales import FileRule

WHOLE = 2**21
"""Places of a scan that is segmented at once; a larger volume is, window by window."""


@dataclass(frozen=True)
class Segmentation:
    """The label of each place, and how likely each class is. Not a medical device."""

    labels: Int[np.ndarray, "*grid"]
    """As the masks of the training data number them; with --target 1 and 0."""
    chances: Float32[np.ndarray, "k *grid"] = field(repr=False)
    """Of each class; they sum to 1."""
    classes: tuple[str, ...]
    """The background first."""
    modalities: tuple[str, ...]
    """What was looked at."""


@runtime_checkable
class Network(Protocol):
    """What makes logits of scans."""

    learned: dict[str, Any]

    def encode(self, scans: Any, /) -> Any:
        """What is computed of scans once."""

    def decode(self, encoded: Any, chosen: Tensor, /) -> Tensor:
        """The logits for subsets of the modalities."""


def read_scans(
    scans: Mapping[str, Any], learned: Mapping[str, Any], exact: bool
) -> dict[str, Float[np.ndarray, "c *grid"]]:
    """The scans of a mapping, channels first, in the order of the model's modalities; files as the
    reader of its data makes them, where their scale matters exactly."""
    channels, dims = learned["channels"], len(learned["grid"])
    if not scans or (strange := set(scans) - set(channels)):
        told = f"found {', '.join(sorted(strange))}" if scans else "there is none"
        raise PolymodalError(
            f"This model segments with any of {', '.join(channels)}; {told}. Give one of them at least, "
            'as segment({"' + next(iter(channels)) + '": …}).'
        )
    found = {}
    for name, count in channels.items():
        if name not in scans:
            continue
        scan = scans[name]
        if not isinstance(scan, np.ndarray):
            rule = FileRule(**learned.get("files", {}).get(name, {}))
            scan = scan if isinstance(scan, Scan) else read_scan(scan)
            scan = values_of(scan, name, rule, exact=exact)
        if scan.ndim == dims and count == 1:
            scan = scan[None]
        if scan.ndim != dims + 1 or len(scan) != count or scan.dtype.kind not in "fiub":
            raise PolymodalError(
                f"A scan of {name} has {count} channel{'s' if count > 1 else ''} of {dims} sides; found "
                f"{scan.dtype} of shape {list(scan.shape)}."
            )
        if not np.isfinite(scan).all():
            raise PolymodalError(f"The scan of {name} has values that are no numbers.")
        found[name] = scan.astype(np.float32)
    grids = {name: scan.shape[1:] for name, scan in found.items()}
    if len(set(grids.values())) > 1:
        told = ", ".join(f"{name} {'×'.join(map(str, grid))}" for name, grid in grids.items())
        raise PolymodalError(
            f"The scans show the same places, so they have one size; found {told}. Resample them."
        )
    return found


@torch.no_grad()
def chances_of(
    network: Network,
    scans: Sequence[Float[Tensor, "1 _ *grid"]],
    there: Bool[Tensor, " n"],
    flips: bool,
) -> Float32[np.ndarray, "k *grid"]:
    """How likely each class is at each place: of planes at once, of large volumes window by window,
    the mean where windows overlap."""
    grid = tuple(scans[0].shape[2:])
    size = grid
    if len(grid) == 3 and np.prod(grid) > WHOLE:
        size = tuple(
            min(side, own) for side, own in zip(grid, network.learned["grid"], strict=True)
        )
    total, count = None, torch.zeros(grid)
    for window in windows(grid, size):
        own = [scan[(slice(None), slice(None), *window)] for scan in scans]
        found = likely(network, own, there)
        if flips:
            mirrored = likely(network, [scan.flip(-1) for scan in own], there)
            found = (found + mirrored.flip(-1)) / 2
        if total is None:
            total = torch.zeros(len(found), *grid)
        total[(slice(None), *window)] += found
        count[window] += 1
    if total is None:
        raise PolymodalError(f"A scan of {'×'.join(map(str, grid))} has no place to segment.")
    return np.asarray((total / count).numpy())


def likely(
    network: Network, scans: Sequence[Float[Tensor, "1 _ *grid"]], there: Bool[Tensor, " n"]
) -> Float[Tensor, "k *grid"]:
    """The probability of each class at each place of one item."""
    logits = network.decode(network.encode(list(scans)), there[None, None])
    return logits[0].float().softmax(0).cpu()


def windows(grid: Sequence[int], size: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Windows of a size that cover a grid, each half over the next.

    >>> [window[0] for window in windows([10], [6])]
    [slice(0, 6, None), slice(3, 9, None), slice(4, 10, None)]
    """
    starts = [
        sorted({*range(0, side - own, max(1, own // 2)), side - own})
        for side, own in zip(grid, size, strict=True)
    ]
    for corner in product(*starts):
        yield tuple(slice(start, start + own) for start, own in zip(corner, size, strict=True))
