"""The classifier of object crops in training and in use."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import cross_entropy

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import Batch
from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.metrics.class_accuracy import per_class
from polymodal.nn.augment import RandomCrop
from polymodal.nn.crop_net import SIDE, CropFeatures, CropNet
from polymodal.nn.feature_networks import FeatureNetwork
from polymodal.nn.picture_crops import CUT, RULE, crops
from polymodal.systems.layout.layout_learner import LayoutLearner
from polymodal.training.system import Scores

QUICK, BLOCK = 1000, 256
"""Pictures at a validation, and pictures or crops at once."""


@dataclass(frozen=True)
class CropBatch(Batch):
    """n crops of objects, and the class of each."""

    crops: UInt8[Tensor, "n 3 32 32"]
    labels: Int[Tensor, " n"]


def cut(
    pictures: UInt8[Tensor, "b h w 3"],
    boxes: Float[Tensor, "b o 4"],
    classes: Int[Tensor, "b o"],
    there: Bool[Tensor, "b o"],
) -> CropBatch:
    """The objects of pictures as crops; boxes in sides of the picture."""
    owner, place = there.nonzero(as_tuple=True)
    parts = crops(pictures, boxes[owner, place], owner, SIDE)
    return CropBatch(parts.round().to(torch.uint8), classes[owner, place])


def cut_batch(batch: LayoutBatch) -> CropBatch:
    """The same of a batch for training."""
    return cut(batch.image.permute(0, 2, 3, 1), batch.boxes, batch.classes, batch.there)


class CropClassifier(LayoutLearner):
    """A small residual network that tells the class of an object's crop."""

    monitor = "accuracy"

    def __init__(self, config: Any, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.net = CropNet(width=config.width, dim=config.dim, classes=len(learned["classes"]))
        self.augment = RandomCrop(1.0, config.flip)

    # Training

    def training_step(self, batch: LayoutBatch, batch_idx: int) -> dict[str, Tensor]:
        return self.step(cut_batch(batch))

    def step(self, batch: CropBatch) -> dict[str, Tensor]:
        """The cross-entropy of the classes."""
        logits = self.net(self.augment(batch.crops).float()).logits
        loss = cross_entropy(logits.float(), batch.labels)
        return {"loss": loss, "shown": loss.detach()}

    def symptom(self, loss: float) -> str | None:
        """A loss that stays at that of a guess."""
        chance = math.log(len(self.learned["classes"]))
        if loss < 0.99 * chance:
            return None
        return (
            f"The classifier guesses: its loss is {loss:.2f}, that of a guess {chance:.2f}. Try another "
            "--lr."
        )

    # Use

    @torch.no_grad()
    def classify(self, crops: UInt8[Tensor, "n 3 32 32"]) -> Float[Tensor, "n k"]:
        """The logits of the classes of crops."""
        return self.seen(crops, "logits")

    @torch.no_grad()
    def features(self, crops: UInt8[Tensor, "n 3 32 32"]) -> Float[Tensor, "n d"]:
        """What the classes are told by."""
        return self.seen(crops, "features")

    def seen(self, crops: UInt8[Tensor, "n 3 32 32"], what: str) -> Float[Tensor, "n _"]:
        """Features or logits of crops, block by block."""
        self.eval()
        blocks = crops.split(BLOCK)
        told = [getattr(self.net(some.to(self.device).float()), what).float() for some in blocks]
        return torch.cat(told)

    def network(self, name: str = "crops") -> FeatureNetwork:
        """It as a feature network of measures.

        Args:
            name: what it is called in a protocol, such as its run.
        """
        layer = "before the classifier"
        return FeatureNetwork(CropFeatures(self.net), name=name, side=SIDE, layer=layer)

    # Scores

    def validate(self, dataset: Dataset) -> Scores:
        """The accuracy on the first pictures of a split."""
        return self.scores(cut_batch(b) for b in self.batches(dataset, QUICK, BLOCK))

    def evaluate(self, dataset: Dataset) -> Scores:
        """The accuracy on all of a split."""
        return self.scores(cut_batch(b) for b in self.batches(dataset, None, BLOCK))

    def scores(self, batches: Iterable[CropBatch]) -> Scores:
        """The share of crops whose class is told rightly, in percent, and its mean over classes; how many
        crops."""
        right, labels = [], []
        for batch in batches:
            own = batch.labels.to(self.device)
            right.append((self.classify(batch.crops).argmax(1) == own).cpu())
            labels.append(own.cpu())
        if not sum(map(len, labels)):
            raise PolymodalError("There are no objects to recognise. Give pictures with objects.")
        told = torch.cat(right)
        return {
            "accuracy": 100 * told.double().mean().item(),
            "class_accuracy": per_class(told, torch.cat(labels)),
            "objects": float(len(told)),
        }

    def protocol(self) -> dict[str, Any]:
        return {"crop": SIDE, "resize": RULE, "crops": CUT}
