"""The segmentation of one slice or volume, from whichever modalities are at hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import check_count
from polymodal.data.scan_files import Scan, read_scan, values_of
from polymodal.data.scan_scales import FileRule
from polymodal.nn.sliding_windows import slide

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


def check_window(window: int | None, overlap: float) -> None:
    """Refuse windows that are none, and an overlap that leaves nothing to go on by."""
    if window is not None:
        check_count("window", window, "the side of the windows in which a scan is segmented")
    if not 0 <= overlap < 1:
        raise PolymodalError(f"overlap is a share, from 0 to below 1, not {overlap}.")


def window_of(grid: Sequence[int], learned: Sequence[int], patch: int | None) -> tuple[int, ...]:
    """What is segmented at once: windows as large as the training patches, or as the training volumes
    where those were not cut and the volume is large, or else the whole."""
    if patch is not None:
        return tuple(min(side, patch) for side in grid)
    if len(grid) == 3 and np.prod(grid) > WHOLE:
        return tuple(min(side, own) for side, own in zip(grid, learned, strict=True))
    return tuple(grid)


@torch.no_grad()
def chances_of(
    network: Network,
    scans: Sequence[Float[Tensor, "b _ *grid"]],
    chosen: Bool[Tensor, "s b n"],
    window: Sequence[int],
    *,
    overlap: float = 0.25,
    flips: bool = False,
    at_once: int = 1,
) -> Float32[Tensor, "s b k *grid"]:
    """How likely each class is at each place of each item, with each subset of its modalities.

    Args:
        network: encodes each window once, and decodes it for each subset.
        scans: of each modality.
        chosen: the subsets.
        window: see `slide`, as for `overlap` and `at_once`.
        flips: mean over the scans and their mirror images, left and right.
    """
    if not all(scans[0].shape[2:]):
        told = "×".join(map(str, scans[0].shape[2:]))
        raise PolymodalError(f"A scan of {told} has no place to segment.")

    def likely(own: list[Tensor]) -> Tensor:
        found = likely_in(network, own, chosen)
        if flips:
            found += likely_in(network, [scan.flip(-1) for scan in own], chosen).flip(-1)
            found /= 2
        return found

    return slide(likely, scans, window, overlap=overlap, at_once=at_once)


def likely_in(
    network: Network, scans: list[Float[Tensor, "w _ *window"]], chosen: Bool[Tensor, "s b n"]
) -> Float[Tensor, "s w k *window"]:
    """The probability of each class at each place of some windows of the same items."""
    times = len(scans[0]) // chosen.shape[1]
    encoded = network.encode(scans)
    found = [
        network.decode(encoded, own.repeat(times, 1)[None]).float().softmax(1) for own in chosen
    ]
    return torch.stack(found)
