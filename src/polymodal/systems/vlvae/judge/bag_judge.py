"""The judge of bags of words, whose order has no meaning."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from polymodal.data.image_texts import ImageTextBatch, ImageTexts
from polymodal.data.records import Dataset
from polymodal.metrics.correctness import bag_correctness
from polymodal.nn.word_readers import BagReader, words_said
from polymodal.systems.vlvae.judge.judge_module import BLOCK, Judge
from polymodal.training.recording import Outputs

GUESS = 55.0
"""The balanced accuracy in percent below which a word is hardly told from a guess."""


class BagJudge(Judge):
    """Predicts the probability of each word for an image."""

    reader: BagReader

    def examples(self, dataset: Dataset) -> ImageTexts:
        return ImageTexts(dataset, self.words)

    def step(self, batch: ImageTextBatch) -> Outputs:
        """Binary cross-entropy of each word for each image; the blank, which comes first, is
        excluded."""
        truth = words_said(batch.texts, len(self.words))[:, 1:]
        logits = self.reader(batch.images)[:, 1:]
        loss = binary_cross_entropy_with_logits(logits, truth.float())
        return {"loss": loss, "shown": loss.detach()}

    def symptom(self, loss: float) -> str | None:
        """A warning if the loss per word stays at chance level."""
        if loss < 0.99 * math.log(2):
            return None
        return f"The judge is at chance level: the loss per word is {loss:.2f}. Try another --lr."

    @torch.no_grad()
    def probabilities(self, pictures: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b v"]:
        """The probability of each word for each image."""
        self.eval()
        blocks = [self.reader(some.to(self.device)) for some in pictures.split(BLOCK)]
        return torch.cat(blocks).sigmoid()

    def scores(self, batches: Iterator[ImageTextBatch]) -> dict[str, float]:
        """Balanced accuracies, the mean over images with and without a word, since most words are
        rare; and the correctness of the texts themselves."""
        predicted, truth, texts = [], [], []
        for batch in batches:
            predicted.append(self.probabilities(batch.images).cpu())
            truth.append(words_said(batch.texts, len(self.words)).cpu())
            texts.append(batch.texts[:, 0].cpu())
        likely, there = torch.cat(predicted), torch.cat(truth)
        right = ((likely > 0.5) == there).double()
        scores: dict[str, float] = {}
        for number, word in enumerate(self.words.words[1:], 1):
            says = there[:, number]
            if says.any() and not says.all():  # else there is nothing to tell apart
                both = right[says, number].mean() + right[~says, number].mean()
                scores[f"accuracy_{word}"] = 50 * both.item()
        scores["least_accuracy"] = min(scores.values(), default=0.0)
        return scores | bag_correctness(torch.cat(texts), likely, blank=0)

    def correctness(
        self, pictures: Shaped[Tensor, "b 3 h w"], texts: Int[Tensor, "b t"]
    ) -> dict[str, float]:
        likely = self.probabilities(pictures)
        return bag_correctness(texts.to(likely.device), likely, blank=0)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """A warning about the words with an accuracy near chance level."""
        ill = [
            name.removeprefix("accuracy_")
            for name, value in scores.items()
            if name.startswith("accuracy_") and value < GUESS
        ]
        if not ill:
            return []
        return [
            f"The judge hardly recognises {', '.join(ill)} (balanced accuracies below {GUESS:g} %), so its "
            "scores of these words are unreliable. Train longer, or on more images."
        ]

    def protocol(self) -> dict[str, Any]:
        return {"reading": "words likelier than not, whatever the order", "accuracy": "balanced"}
