"""Texts of images with the places of the objects that each names: what a judge learns from."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.data.batches import Held
from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import ImageTextBatch, ImageTexts
from polymodal.data.records import Dataset


@dataclass(frozen=True)
class LocatedTextBatch(ImageTextBatch):
    """b images, their k texts, and the places of each text's o objects: none where nobody knows them."""

    places: Float[Tensor, "b k o 2"]


class LocatedTexts(ImageTexts):
    """All images of a split with their texts and their objects' places."""

    kind = LocatedTextBatch

    def __init__(self, dataset: Dataset, words: Words) -> None:
        super().__init__(dataset, words)
        if "places" in dataset.columns:
            places = torch.from_numpy(dataset.columns["places"].batch(range(len(dataset))))
        else:
            places = torch.zeros(*self.texts.shape[:2], 0, 2)
        self.places: Float[Tensor, "n k o 2"] = places
        self.fields["places"] = Held(places)
