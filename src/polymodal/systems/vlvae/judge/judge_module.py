"""What both judges share: training and evaluation."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import ImageTexts, check_pictures, check_texts
from polymodal.data.records import Dataset
from polymodal.nn.learning_rates import half_cosine
from polymodal.nn.word_readers import BagReader, PlaceReader
from polymodal.systems.vlvae.judge.judge_settings import Config
from polymodal.training.recording import Outputs, Recordable

QUICK, BLOCK = 2000, 256
"""Number of images at a validation, and per block."""


class Judge(Recordable):
    """An image classifier with the vocabulary that it predicts."""

    monitor = "least_accuracy"

    def __init__(self, config: Config, words: Words, reader: BagReader | PlaceReader) -> None:
        super().__init__()
        self.config, self.words, self.reader = config, words, reader

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Before training: do the texts of every split fit the vocabulary?"""
        check_texts(splits, self.words)

    @abstractmethod
    def examples(self, dataset: Dataset) -> ImageTexts:
        """Training examples of a split."""

    @abstractmethod
    def step(self, batch: Any) -> Outputs:
        """The loss of a batch."""

    @abstractmethod
    def scores(self, batches: Iterator[Any]) -> dict[str, float]:
        """The accuracy of each attribute on real images, in percent, and the lowest of them."""

    @abstractmethod
    def correctness(
        self, pictures: Shaped[Tensor, "b 3 h w"], texts: Int[Tensor, "b t"]
    ) -> dict[str, float]:
        """How much of each text its image shows, in percent: see `metrics.correctness`."""

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Load another judge's weights."""
        words, other = (
            {k: v.shape for k, v in some.items()} for some in (self.state_dict(), weights)
        )
        if words != other or Words.from_json(learned["words"]) != self.words:
            raise PolymodalError(
                "--init names a judge of other words or of another shape: start from a run on the "
                "same data, with the same model settings."
            )
        self.load_state_dict(weights)

    def training_step(self, batch: Any, batch_idx: int) -> Outputs:
        return self.stepped(self.step, batch)

    def configure_optimizers(self) -> Any:
        adam = torch.optim.Adam(self.parameters(), lr=self.config.lr)
        share = partial(share_of_rate, warmup=self.config.warmup, last=self.clock.last)
        schedule = torch.optim.lr_scheduler.LambdaLR(adam, share)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def validate(self, dataset: Dataset) -> dict[str, float]:
        """The accuracies on the first images of a split."""
        return self.scores(self.batches(dataset, min(QUICK, len(dataset))))

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """The accuracies on all of a split."""
        return self.scores(self.batches(dataset, len(dataset)))

    def batches(self, dataset: Dataset, count: int) -> Iterator[Any]:
        """The first examples of a split, in blocks, on the device."""
        check_pictures(dataset, self.reader.size)
        for batch in self.examples(dataset).blocks(count, BLOCK):
            yield batch.to(self.device)


def share_of_rate(step: int, warmup: int, last: int) -> float:
    """The factor on the learning rate at a step: linear warm-up times half a cosine over all steps.

    >>> [round(share_of_rate(step, warmup=1, last=8), 2) for step in (0, 1, 4, 7)]
    [0.5, 0.96, 0.5, 0.04]
    """
    return min(1.0, (step + 1) / (warmup + 1)) * half_cosine(step / last)
