"""The detector of objects in training and in use."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.metrics.layout_fidelity import OVERLAP, FoundObjects, Objects, layout_fidelity
from polymodal.nn.centre_points import CentrePointNet, Points, class_words, peaks
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.picture_crops import RULE, resized
from polymodal.systems.layout.layout_learner import LayoutLearner, half_mirrored
from polymodal.systems.layout.spotter_losses import spotting_losses
from polymodal.training.system import Scores

QUICK, BLOCK = 1000, 128
"""Pictures at a validation, and at once."""


class ObjectDetector(LayoutLearner):
    """Finds boxes and classes of the objects of a picture."""

    monitor = "fidelity"

    def __init__(self, config: Any, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        words = class_words(list(learned["classes"]))
        self.net = CentrePointNet(width=config.width, words=words, stride=config.stride)

    # Training

    def training_step(self, batch: LayoutBatch, batch_idx: int) -> dict[str, Tensor]:
        """The sum of the losses of centres, classes and boxes."""
        pictures, layouts = batch.image, Layouts.of(batch)
        if self.config.flip:
            pictures, layouts = half_mirrored(pictures, layouts)
        maps = self.net(pictures.float())
        losses = spotting_losses(maps, layouts.boxes, layouts.classes, layouts.there)
        loss = torch.stack(list(losses.values())).sum()
        return {"loss": loss, "shown": loss.detach()}

    def symptoms(self, scores: Scores) -> list[str]:
        """A detector that finds nothing."""
        if scores["found"]:
            return []
        return [
            "The spotter finds no object at all: its centres are below --threshold. Train longer, or give "
            "a lower one."
        ]

    # Use

    @torch.no_grad()
    def find(self, pictures: UInt8[Tensor, "b h w 3"]) -> list[FoundObjects]:
        """The objects of each picture, the surest first; boxes in sides of the picture."""
        self.eval()
        return [
            found
            for some in pictures.split(BLOCK)
            for found in self.apart(
                peaks(self.net(self.pixels(some.to(self.device))), self.config.candidates)
            )
        ]

    def pixels(self, pictures: UInt8[Tensor, "b h w 3"]) -> Float[Tensor, "b 3 size size"]:
        """Pictures at the size that it was trained at."""
        return resized(pictures, self.learned["size"])

    def apart(self, points: Points) -> Iterator[FoundObjects]:
        """What is sure enough, picture by picture."""
        sure = points.scores >= self.config.threshold
        for boxes, classes, scores, kept in zip(
            points.boxes, points.classes, points.scores, sure, strict=True
        ):
            yield FoundObjects(boxes[kept].cpu(), classes[kept].cpu(), scores[kept].cpu())

    # Scores

    def validate(self, dataset: Dataset) -> Scores:
        """How well it finds the objects of the first pictures of a split."""
        return self.scores(self.batches(dataset, QUICK, BLOCK))

    def evaluate(self, dataset: Dataset) -> Scores:
        """The same of all of a split."""
        return self.scores(self.batches(dataset, None, BLOCK))

    def scores(self, batches: Iterable[LayoutBatch]) -> Scores:
        """Layout fidelity of real pictures: what that of made ones can be compared with."""
        return layout_fidelity(
            pair
            for b in batches
            for pair in self.judged(b.image.permute(0, 2, 3, 1), b.boxes, b.classes, b.there)
        )

    def judged(
        self,
        pictures: UInt8[Tensor, "b h w 3"],
        boxes: Float[Tensor, "b o 4"],
        classes: Int[Tensor, "b o"],
        there: Bool[Tensor, "b o"],
    ) -> Iterator[tuple[Objects, FoundObjects]]:
        """The layout of each picture beside what is found in it, for `layout_fidelity`."""
        rows = zip(boxes.cpu(), classes.cpu(), there.cpu(), self.find(pictures), strict=True)
        for own, kinds, real, found in rows:
            yield Objects(own[real], kinds[real]), found

    def protocol(self) -> dict[str, Any]:
        return {
            "match": f"IoU of {OVERLAP} or more, the surest first",
            "threshold": self.config.threshold,
            "resize": RULE,
        }
