"""A network that segments scans from any subset of their modalities, and its use."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from polymodal.data.scan_scales import FileRule
from polymodal.systems.medical.scan_reading import Given, read_scans
from polymodal.systems.medical.segmentation import (
    Segmentation,
    chances_of,
    check_window,
    window_of,
)
from polymodal.systems.medical.segmenter_settings import Settings
from polymodal.training.system import System

Scans = list[Float[Tensor, "b _ *grid"]]
"""The scans of each modality, in the order of `names`."""

BLOCK = 16
"""Planes that are segmented at once."""


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

    def read(
        self, scans: Mapping[str, Any], *, axis: int | None = None, as_is: bool = False
    ) -> Given:
        """A user's scans as the data of the training have them; see `segment`."""
        size = None if as_is or not self.resizes else self.learned["grid"]
        exact = self.config.standardise == "data"
        return read_scans(scans, self.learned, exact=exact, axis=axis, size=size)

    @property
    def resizes(self) -> bool:
        """Whether slices are brought to the size of the training's: where its reader did so, or where
        the network saw whole slices of that size alone. Voxels have a size in mm and keep it."""
        rule = FileRule(**next(iter(self.learned.get("files", {}).values()), {}))
        if self.dims == 3 or rule.fit == "kept":
            return False
        return rule.fit == "resized" or self.config.patch is None

    @torch.no_grad()
    def segment(
        self,
        scans: Mapping[str, Any],
        *,
        axis: int | None = None,
        as_is: bool = False,
        flips: bool = False,
        window: int | None = None,
        overlap: float = 0.25,
        precision: Literal["32", "bf16"] = "32",
    ) -> Segmentation:
        """The class of each place of one slice or volume. Not a medical device.

        A slice of another size than the training's is brought to it, as `size` of the data does, and
        what is found to the size of the slice; see `resizes`. A model of slices takes a volume plane by
        plane.

        Args:
            scans: of each modality at hand its array (the grid, or channels first), or its file, whose
                values are made as those of the training data were. All show the same places.
            axis: of a volume's file, 0, 1 or 2, along which a model of slices takes its planes; by
                default the last, which is the first of an array. An array of planes needs it.
            as_is: keep the size of slices.
            flips: mean over the scans and their mirror images, left and right.
            window: side of the windows in which a large scan is segmented; by default that of the
                training patches, or of volumes that are larger than the training's.
            overlap: how much of a window's side the next one shares, from 0 to below 1.
            precision: float32, or bf16 for its convolutions: faster where the processor has them, and
                probabilities change in the second decimal place.
        """
        check_window(window, overlap)
        given = self.read(scans, axis=axis, as_is=as_is)
        self.eval()
        size = window_of(given.grid, self.learned["grid"], window or self.config.patch)
        likely = []
        for start in range(0, len(given), BLOCK):
            own, there = self.tensors(given, slice(start, start + BLOCK))
            with torch.autocast(self.device.type, torch.bfloat16, enabled=precision == "bf16"):
                found = chances_of(self, own, there[None], size, overlap=overlap, flips=flips)
            likely.append(found[0].cpu().numpy())
        chances = np.ascontiguousarray(given.back(np.concatenate(likely)))
        labels = [0, 1] if self.learned["target"] else self.learned["labels"]
        return Segmentation(
            labels=np.array(labels)[chances.argmax(0)],
            chances=chances,
            classes=("background", *self.classes),
            modalities=tuple(given.values),
            resized=given.grid if given.grid != given.sides else None,
        )

    def tensors(self, given: Given, rows: slice) -> tuple[Scans, Bool[Tensor, "b n"]]:
        """Some planes, or the slice or volume, standardised; and which modalities there are."""
        there = torch.tensor([name in given.values for name in self.names], device=self.device)
        found = []
        for name in self.names:
            if name in given.values:
                values = torch.from_numpy(np.ascontiguousarray(given.values[name][rows]))
                found.append(self.standardised(name, values.to(self.device)))
            else:
                count = len(range(*rows.indices(len(given))))
                shape = count, self.learned["channels"][name], *given.grid
                found.append(torch.zeros(shape, device=self.device))
        return found, there.expand(len(found[0]), -1)
