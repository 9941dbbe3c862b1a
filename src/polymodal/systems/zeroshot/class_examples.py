"""Batches of images with their classes, and optionally with a positive from the same class."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64, UInt8
from torch import Tensor

from polymodal.data.batches import Batch
from polymodal.data.classes import Classed


@dataclass(frozen=True)
class ClassBatch(Batch):
    """b images and the class of each."""

    images: UInt8[Tensor, "b 3 h w"]
    labels: Int64[Tensor, " b"]


@dataclass(frozen=True)
class PartnerBatch(ClassBatch):
    """The same with a partner (the positive) for each image: the image itself, or another of its
    class."""

    others: UInt8[Tensor, "b 3 h w"]

    @property
    def own(self) -> Bool[Tensor, " b"]:
        """Which images are their own partner."""
        return (self.images == self.others).flatten(1).all(1)


class ClassMembers:
    """Finds other images of the same class, for a whole batch at once."""

    def __init__(self, labels: Int64[np.ndarray, " n"]) -> None:
        _, own, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.rows = np.argsort(own, kind="stable")  # sorted by class
        self.first, self.counts = (np.cumsum(counts) - counts)[own], counts[own]
        self.rank = np.empty_like(own)  # the rank of an image within its class
        self.rank[self.rows] = np.arange(len(own))
        self.rank -= self.first

    def others(
        self, indices: Int[np.ndarray, " b"], chance: Float[np.ndarray, " b"]
    ) -> Int64[np.ndarray, " b"]:
        """Another image of each one's class, chosen by random numbers in [0, 1); itself if there is
        none."""
        which = (chance * (self.counts[indices] - 1)).astype(np.int64)
        which += (which >= self.rank[indices]) & (self.counts[indices] > 1)  # skip itself
        return self.rows[self.first[indices] + which]


class ClassExamples:
    """All images of a split with their classes; a batch reads only those that it needs.

    With a number for `partners`, each image comes with another of its class with this
    probability, else with itself. The choice depends only on the batch.
    """

    def __init__(self, dataset: Classed, partners: float | None = None) -> None:
        self.dataset, self.partners = dataset, partners
        self.labels = torch.from_numpy(np.asarray(dataset.labels))
        self.members = ClassMembers(dataset.labels)
        self.kept: Resident | None = None

    def __len__(self) -> int:
        return len(self.dataset)

    def images(self, indices: Int[np.ndarray, " b"]) -> UInt8[Tensor, "b 3 h w"]:
        """The images at these indices."""
        return torch.from_numpy(self.dataset.images(indices.tolist())).permute(0, 3, 1, 2)

    def batch(self, indices: Int[np.ndarray, " b"]) -> ClassBatch:
        """The images at these indices, with partners if asked for."""
        images, labels = self.images(indices), self.labels[self.placed(indices)]
        if self.partners is None:
            return ClassBatch(images, labels)
        return PartnerBatch(images, labels, self.images(self.partners_of(indices)))

    def placed(self, indices: Int[np.ndarray, " b"]) -> Int[Tensor, " b"]:
        """Indices as a tensor, on the device of the labels."""
        return torch.from_numpy(indices)

    def partners_of(self, indices: Int[np.ndarray, " b"]) -> Int64[np.ndarray, " b"]:
        """The partner of each image: another of its class, or itself."""
        chance = np.random.default_rng(indices)
        paired = chance.random(len(indices)) < (self.partners or 0.0)
        others = self.members.others(indices, chance.random(len(indices)))
        return np.where(paired, others, indices).astype(np.int64)

    def blocks(self, size: int = 256) -> Iterator[ClassBatch]:
        """All images in order, in blocks."""
        source = self.kept or self
        for start in range(0, len(self), size):
            indices = np.arange(start, min(start + size, len(self)))
            yield ClassBatch(source.images(indices), self.labels[start : start + size])

    def resident(self, device: torch.device) -> "ClassExamples":
        """The same examples with their images on a device, read only once."""
        self.kept = Resident(self, device)
        return self.kept


class Resident(ClassExamples):
    """The same examples kept whole on one device, as uint8: a batch is one gather."""

    def __init__(self, examples: ClassExamples, device: torch.device) -> None:
        super().__init__(examples.dataset, examples.partners)
        blocks = (block.images.permute(0, 2, 3, 1).to(device) for block in examples.blocks(1024))
        self.pixels, self.labels = torch.cat(list(blocks)), self.labels.to(device)

    def images(self, indices: Int[np.ndarray, " b"]) -> UInt8[Tensor, "b 3 h w"]:
        """The images at these indices, gathered on the device."""
        return self.pixels[self.placed(indices)].permute(0, 3, 1, 2)

    def placed(self, indices: Int[np.ndarray, " b"]) -> Int[Tensor, " b"]:
        """Indices on the device. From pinned memory the copy does not wait for earlier steps, so
        the next batch is ready in time."""
        rows = super().placed(indices)
        rows = rows.pin_memory() if self.pixels.is_cuda else rows
        return rows.to(self.pixels.device, non_blocking=True)
