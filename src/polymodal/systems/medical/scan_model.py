"""A network that segments scans from any subset of their modalities, and its use."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from polymodal.systems.medical.segmentation import (
    Segmentation,
    chances_of,
    check_window,
    read_scans,
    window_of,
)
from polymodal.systems.medical.segmenter_settings import Settings
from polymodal.training.system import System

Scans = list[Float[Tensor, "b _ *grid"]]
"""The scans of each modality, in the order of `names`."""


class ScanModel(System):
    """From any subset of the modalities to the class of each place."""

    can = frozenset({"segment"})

    def __init__(self, config: Settings, learned: dict[str, Any]) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        self.names: list[str] = learned["modalities"]
        self.classes: list[str] = learned["classes"]
        self.dims = len(learned["grid"])
        self.monitor = f"dice_{config.select}"

    @abstractmethod
    def encode(self, scans: Scans) -> Any:
        """What is computed of the scans once, whichever of them are looked at."""

    @abstractmethod
    def decode(self, encoded: Any, chosen: Bool[Tensor, "s b n"]) -> Float[Tensor, "sb k *grid"]:
        """The logits of each item in each of s subsets of its modalities, subset by subset."""

    def standardised(
        self, name: str, scan: Float[Tensor, "b c *grid"]
    ) -> Float[Tensor, "b c *grid"]:
        """A modality with mean 0 and standard deviation 1; a scan that never varies is 0."""
        if self.config.standardise == "data":
            mean, spread = self.learned["statistics"][name]
            return (scan - mean) / spread
        axes = tuple(range(1, scan.ndim))
        away = scan - scan.mean(axes, keepdim=True)
        return away / away.square().mean(axes, keepdim=True).sqrt().clamp(min=1e-6)

    def read(self, scans: Mapping[str, Any]) -> dict[str, Float[np.ndarray, "c *grid"]]:
        """Scans as the data of the training have them, channels first."""
        return read_scans(scans, self.learned, exact=self.config.standardise == "data")

    def segment(
        self,
        scans: Mapping[str, Any],
        *,
        flips: bool = False,
        window: int | None = None,
        overlap: float = 0.25,
        precision: Literal["32", "bf16"] = "32",
    ) -> Segmentation:
        """The class of each place of one slice or volume. Not a medical device.

        Args:
            scans: of each modality at hand its array (the grid, or channels first), or its file, whose
                values are made as those of the training data were. All show the same places.
            flips: mean over the scans and their mirror images, left and right.
            window: side of the windows in which a large scan is segmented; by default that of the
                training patches, or of volumes that are larger than the training's.
            overlap: how much of a window's side the next one shares, from 0 to below 1.
            precision: float32, or bf16 for its convolutions: faster where the processor has them, and
                probabilities change in the second decimal place.
        """
        check_window(window, overlap)
        given = self.read(scans)
        self.eval()
        there = torch.tensor([name in given for name in self.names], device=self.device)
        first = next(iter(given.values()))
        tensors = []
        for name in self.names:
            scan = given.get(name, np.zeros((self.learned["channels"][name], *first.shape[1:])))
            values = torch.from_numpy(np.ascontiguousarray(scan)).float().to(self.device)
            tensors.append(self.standardised(name, values[None]))
        size = window_of(first.shape[1:], self.learned["grid"], window or self.config.patch)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=precision == "bf16"):
            found = chances_of(self, tensors, there[None, None], size, overlap=overlap, flips=flips)
        chances = np.asarray(found[0, 0].cpu().numpy())
        labels = [0, 1] if self.learned["target"] else self.learned["labels"]
        return Segmentation(
            labels=np.array(labels)[chances.argmax(0)],
            chances=chances,
            classes=("background", *self.classes),
            modalities=tuple(given),
        )
