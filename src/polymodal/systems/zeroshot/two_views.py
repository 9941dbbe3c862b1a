"""Learners that compare two views of an image: augmented in training, the centre crop in
evaluation."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import UInt8
from torch import Tensor

from polymodal.nn.amdim_augment import Looks
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.learner_settings import Settings


class TwoViews(Learner):
    """A learner with AMDIM's augmentations, which include horizontal flips whatever `flip` is."""

    augment: Looks | None
    """None to use random crops, as other learners do."""

    def __init__(self, config: Settings, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.augment = Looks(self.encoder.size)

    def see(self, images: UInt8[Tensor, "b 3 h w"]) -> Features:
        """The features of an augmented view in training, of the centre crop in evaluation."""
        if self.augment is None or not self.training:
            return super().see(images)
        features: Features = self.encoder(2 * self.augment(images.float() / 255) - 1)
        return features

    def views(self, batch: ClassBatch) -> Sequence[Features]:
        """Two views of each image."""
        return [self.see(batch.images) for _ in range(2)]
