"""The judge of texts in which each position has its own words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import Words
from polymodal.data.located_texts import LocatedTextBatch, LocatedTexts
from polymodal.data.records import Dataset
from polymodal.metrics.correctness import correctness
from polymodal.nn.word_readers import PlaceReader
from polymodal.systems.vlvae.judge.judge_module import BLOCK, Judge
from polymodal.systems.vlvae.judge.judge_settings import Config
from polymodal.training.recording import Outputs

ENOUGH = 98.0
"""The accuracy in percent that a judge must exceed for every attribute."""


class PlaceJudge(Judge):
    """Predicts the word at each position, given the relation word, and the objects' positions."""

    reader: PlaceReader

    def __init__(
        self,
        config: Config,
        words: Words,
        reader: PlaceReader,
        attributes: Mapping[str, Sequence[int]],
    ) -> None:
        super().__init__(config, words, reader)
        self.attributes = attributes
        self.chance = reader.allowed[reader.others].sum(1).log().mean().item()

    def examples(self, dataset: Dataset) -> LocatedTexts:
        seen = LocatedTexts(dataset, self.words)
        if seen.places.shape[2] != self.reader.objects:
            raise PolymodalError(
                f"This judge was trained with the positions of {self.reader.objects} objects, but these data "
                f"give those of {seen.places.shape[2]}. Evaluate it on a world such as two-objects, or "
                "use judge.correctness on images."
            )
        return seen

    def step(self, batch: LocatedTextBatch) -> Outputs:
        """The loss of the words of all true texts of each image, and of the objects' positions."""
        words, places = self.reader(batch.images, self.reader.relations(batch.texts))
        likely = self.reader.likely(words, batch.texts)
        away = (places - batch.places).square().sum(-1)
        loss = -likely.mean()
        if away.numel():
            loss = loss + self.config.place_weight * away.mean()
        return {"loss": loss, "shown": -likely.detach().mean()}

    def symptom(self, loss: float) -> str | None:
        """A warning if the loss per word stays at chance level."""
        if self.global_step < 2 * self.config.warmup or loss < 0.99 * self.chance:
            return None
        return (
            f"The judge is at chance level: the loss per word is {loss:.2f}, and a random word of its "
            f"position gives {self.chance:.2f}. Try another --lr."
        )

    @torch.no_grad()
    def scores(self, batches: Iterator[LocatedTextBatch]) -> dict[str, float]:
        """Accuracies over all true texts, and the error of the positions in percent of the side.

        The accuracy of the relation is balanced, over true relations and their opposites.
        Otherwise a judge that accepts every relation would score 100 %.
        """
        self.eval()
        kept, caught, away = [], [], []
        for batch in batches:
            true, false = batch.texts, self.reader.turned(batch.texts)
            read, places = self.reader.read(batch.images, torch.cat([true, false], 1))
            of_true, of_false = (read == torch.cat([true, false], 1)).chunk(2, 1)
            twins = (false[:, :, None] == true[:, None]).all(-1).any(-1)  # of which both are true
            kept.append(of_true.flatten(0, 1).double().cpu())
            caught.append(~of_false[~twins].cpu())
            away.append((places.chunk(2, 1)[0] - batch.places).norm(dim=-1).flatten().cpu())
        right, wrong = torch.cat(kept).mean(0), torch.cat(caught).double()
        place = self.reader.relation
        if place is not None and len(wrong):
            right[place] = 0.5 * (right[place] + wrong[:, place].mean())
        scores = {
            f"accuracy_{name}": 100 * right[at].mean().item()
            for name, at in self.attributes.items()
        }
        scores["least_accuracy"] = min(scores.values())
        if self.reader.objects:
            scores["place_error"] = 100 * torch.cat(away).mean().item()
        return scores

    @torch.no_grad()
    def read(
        self, pictures: Shaped[Tensor, "b 3 h w"], texts: Int[Tensor, "b t"]
    ) -> tuple[Int[Tensor, "b t"], Float[Tensor, "b o 2"]]:
        """The predicted words at each position of a text, and the objects' positions: see
        `PlaceReader.read`."""
        self.eval()
        blocks = [
            self.reader.read(some.to(self.device), words.to(self.device)[:, None])
            for some, words in zip(pictures.split(BLOCK), texts.split(BLOCK), strict=True)
        ]
        read, places = zip(*blocks, strict=True)
        return torch.cat(read)[:, 0], torch.cat(places)[:, 0]

    def correctness(
        self, pictures: Shaped[Tensor, "b 3 h w"], texts: Int[Tensor, "b t"]
    ) -> dict[str, float]:
        read, _ = self.read(pictures, texts)
        return correctness(texts.to(read.device), read, self.attributes)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """A warning about attributes with low accuracy."""
        ill = [
            f"{name.removeprefix('accuracy_')} ({value:.1f} %)"
            for name, value in scores.items()
            if name.startswith("accuracy_") and not value > ENOUGH
        ]
        if not ill:
            return []
        return [
            f"The judge does not read {', '.join(ill)} correctly in more than {ENOUGH:g} % of real "
            "images, so its scores of generated ones are unreliable. Train longer, on more or larger "
            "images, or with a larger --width."
        ]

    def protocol(self) -> dict[str, Any]:
        return {
            "reading": "each word at its place, given the relation word, over all true texts",
            "relation": "wrong where the words are more than twice as likely in the opposite order",
        }
