"""The segmentation of one slice or volume, from whichever modalities are at hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import check_count
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
    resized: tuple[int, ...] | None = None
    """The size that slices were brought to, where they had another."""


@runtime_checkable
class Network(Protocol):
    """What makes logits of scans."""

    learned: dict[str, Any]

    def encode(self, scans: Any, /) -> Any:
        """What is computed of scans once."""

    def decode(self, encoded: Any, chosen: Tensor, /) -> Tensor:
        """The logits for subsets of the modalities."""


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
