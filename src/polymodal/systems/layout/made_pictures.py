"""Scores of the pictures that a generator makes of a split's layouts (003, §6.4)."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import torch

from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.metrics.diversity import picture_distance
from polymodal.metrics.picture_scores import PictureScores, PictureSide, diversity
from polymodal.nn.feature_networks import FeatureNetwork, network_named
from polymodal.training.system import Scores

BLOCK = 32
"""Pictures that are made and looked at together."""

PAIRS = 64
"""Layouts of which two pictures are compared."""

ALIKE = 0.5
"""The least mean difference of two pictures of one layout, in percent of the range of a pixel."""


def picture_symptoms(scores: Scores) -> list[str]:
    """Warnings about pictures of one layout that are all alike."""
    distance = scores.get("picture_distance")
    if distance is None or distance >= ALIKE:
        return []
    return [
        "All pictures of one layout are alike: two of them differ by "
        f"{distance:.2f} % of the range of a pixel. The noise has no effect. Try a smaller --lambda-p, or "
        "--augment."
    ]


class PictureMeasure:
    """Compares pictures that a model makes with the real ones, which are looked at once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last: PictureScores | None = None
        self.real: dict[tuple[str, int | None], PictureSide] = {}

    @cached_property
    def network(self) -> FeatureNetwork:
        """What all pictures are seen through; opened when it is first needed."""
        return network_named(self.name)

    def quick(self, model: Any, dataset: Dataset, most: int) -> Scores:
        """The Fréchet distance of whole pictures, of the first layouts of a split."""
        return {"fid": self.compare(model, dataset, most).fid()}

    def whole(self, model: Any, dataset: Dataset) -> Scores:
        """All scores of pictures of all layouts, and how much two pictures of one layout differ."""
        self.last = self.compare(model, dataset)
        return self.last.scores() | self.differing(model, dataset)

    def symptoms(self) -> list[str]:
        """What to know of the last scores of all layouts, in plain words."""
        return self.last.symptoms() if self.last else []

    def protocol(self) -> dict[str, Any]:
        """What the last scores of all layouts depend on, their numbers of pictures among it."""
        return self.last.protocol() if self.last else self.network.fingerprint()

    def compare(self, model: Any, dataset: Dataset, most: int | None = None) -> PictureScores:
        """Look at the pictures of layouts, and at the real ones unless that was done before; at those of
        some layouts without their objects."""
        self.network.to(model.device)
        known = self.real.get((dataset.fingerprint, most))
        compared = PictureScores(self.network, real=known)
        for batch, first in blocks_of(model, dataset, most):
            there = batch.there if most is None else torch.zeros_like(batch.there)
            compared.made.add(model.made(batch, first=first), batch.boxes, there)
            if known is None:
                compared.real.add(batch.image.permute(0, 2, 3, 1), batch.boxes, there)
        self.real[dataset.fingerprint, most] = compared.real
        return compared

    def differing(self, model: Any, dataset: Dataset) -> Scores:
        """How much two pictures of one layout differ: to the feature network, and in percent of the range
        of a pixel."""
        pairs = [
            torch.stack([model.made(batch, first=first, seed=seed) for seed in (0, 1)], 1)
            for batch, first in blocks_of(model, dataset, PAIRS)
        ]
        samples = torch.cat(pairs)
        apart = picture_distance(samples.permute(0, 1, 4, 2, 3))
        seen = diversity(self.network, samples)
        return {
            "diversity": seen.mean().item(),
            "picture_distance": 100 * apart.mean().item(),
        }


def blocks_of(model: Any, dataset: Dataset, most: int | None) -> Iterator[tuple[LayoutBatch, int]]:
    """The first examples of a split on the model's device, and the number of the first of each block."""
    first = 0
    for batch in model.examples(dataset).blocks(most, BLOCK):
        yield batch.to(model.device), first
        first += len(batch)
