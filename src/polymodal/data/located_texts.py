"""Sayings with where the objects of each text are seen: what a judge learns from."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import ResidentSayings, SayingBatch, Sayings
from polymodal.data.records import Dataset


@dataclass(frozen=True)
class SeenBatch(SayingBatch):
    """b images, their k texts, and the places of each text's o objects: none where nobody knows them."""

    places: Float[Tensor, "b k o 2"]


class Seen(Sayings):
    """All images of a split with their texts and their objects' places."""

    def __init__(self, dataset: Dataset, words: Words) -> None:
        from polymodal.data.drawn.scenes.named_places import places

        super().__init__(dataset, words)
        found = places(dataset)
        unknown = torch.zeros(*self.texts.shape[:2], 0, 2)
        self.places = unknown if found is None else torch.from_numpy(found)

    def batch(self, indices: Int[np.ndarray, " b"]) -> SeenBatch:
        """The images at these places."""
        rows = torch.from_numpy(indices)
        return SeenBatch(**vars(super().batch(indices)), places=self.places[rows])

    def resident(self, device: torch.device) -> "ResidentSeen":
        """The same examples on a device."""
        return ResidentSeen(self, device)


class ResidentSeen(ResidentSayings):
    """The same examples kept whole on one device."""

    def __init__(self, seen: Seen, device: torch.device) -> None:
        super().__init__(seen, device)
        self.places = seen.places.to(device)

    def batch(self, indices: Int[np.ndarray, " b"]) -> SeenBatch:
        """The images at these places, gathered on the device."""
        rows = torch.from_numpy(indices).to(self.places.device)
        return SeenBatch(**vars(super().batch(indices)), places=self.places[rows])
