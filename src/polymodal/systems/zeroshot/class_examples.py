"""Batches of images with their classes, and optionally with a positive from the same class."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64, UInt8
from torch import Tensor

from polymodal.data.batches import Batch, ColumnExamples, Held, field_of
from polymodal.data.features import pictures_alone
from polymodal.data.records import Dataset


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
        _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.rows = np.argsort(places, kind="stable")  # sorted by class
        self.first, self.counts = (np.cumsum(counts) - counts)[places], counts[places]
        self.rank = np.empty_like(places)  # the rank of an image within its class
        self.rank[self.rows] = np.arange(len(places))
        self.rank -= self.first

    def others(
        self, indices: Int[np.ndarray, " b"], chance: Float[np.ndarray, " b"]
    ) -> Int64[np.ndarray, " b"]:
        """Another image of each one's class, chosen by random numbers in [0, 1); itself if there is
        none."""
        which = (chance * (self.counts[indices] - 1)).astype(np.int64)
        which += (which >= self.rank[indices]) & (self.counts[indices] > 1)  # skip itself
        return self.rows[self.first[indices] + which]


class ClassExamples(ColumnExamples):
    """All images of a split with their classes.

    With a number for `partners`, each image comes with another of its class with this
    probability, else with itself. The choice depends only on the batch.
    """

    def __init__(self, dataset: Dataset, partners: float | None = None) -> None:
        fields = {
            "images": field_of(pictures_alone(dataset), "image", "Learning features"),
            "labels": Held(torch.from_numpy(np.asarray(dataset.labels))),
        }
        super().__init__(dataset, fields)
        self.partners, self.members = partners, ClassMembers(dataset.labels)

    def batch(self, indices: Int[np.ndarray, " b"]) -> ClassBatch:
        """The images at these indices, with partners if asked for."""
        plain = self.block(indices)
        if self.partners is None:
            return plain
        others = self.fields["images"].gather(self.partners_of(indices))
        return PartnerBatch(plain.images, plain.labels, others)

    def block(self, indices: Int[np.ndarray, " b"]) -> ClassBatch:
        """The images at these indices, without partners."""
        return ClassBatch(**{name: field.gather(indices) for name, field in self.fields.items()})

    def partners_of(self, indices: Int[np.ndarray, " b"]) -> Int64[np.ndarray, " b"]:
        """The partner of each image: another of its class, or itself."""
        chance = np.random.default_rng(indices)
        paired = chance.random(len(indices)) < (self.partners or 0.0)
        others = self.members.others(indices, chance.random(len(indices)))
        return np.where(paired, others, indices).astype(np.int64)
