"""Two towers and a measure: training, evaluation and use."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.features import features_of
from polymodal.data.pairs import PairBatch, Pairs, captions_of, captions_of_each, inputs, owners
from polymodal.data.records import Dataset
from polymodal.data.user_images import as_pictures
from polymodal.data.vocabulary import Vocabulary
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, Measure, joined
from polymodal.metrics.hubness import hubness_symptom
from polymodal.metrics.uncertainty import collapse_symptom
from polymodal.nn.augment import RandomCrop
from polymodal.nn.image_encoders import Standardised
from polymodal.nn.named_encoders import extractor, load_pretrained, own_projection
from polymodal.nn.towers import Gaussians, Points, begin_as
from polymodal.search.asking import answer_query, strange_words
from polymodal.systems.retrieval.pair_loss import PairLoss, excess
from polymodal.systems.retrieval.retrieval_scores import (
    calibration_errors,
    precisions,
    selection_scores,
    true_pairs,
    unknown_words,
)
from polymodal.systems.retrieval.tower_settings import Settings, own_source, reader
from polymodal.training.distributed import gather
from polymodal.training.system import System


class Retrieval(System):
    """Two towers and a measure."""

    monitor = "rsum"
    can = frozenset({"search"})

    def __init__(
        self,
        *,
        config: Settings,
        learned: dict[str, Any],
        images: Points | Gaussians,
        captions: Points | Gaussians,
        measure: Measure,
        bounds: tuple[float, float] | None = None,
        vib: float = 0.0,
    ) -> None:
        super().__init__()
        self.config, self.measure, self.bounds, self.vib = config, measure, bounds, vib
        self.reader = reader(learned)
        self.size: int = learned["size"]
        self.made_by: str | None = learned["image_encoder"].get("made_by")
        self.own: str | None = own_source(learned) if config.own_embeddings else None
        self.augment = RandomCrop(config.crop, config.flip)
        self.images, self.captions = images, captions
        self.loss = PairLoss(config)

    def embed_images(self, images: Shaped[Tensor, "b ..."]) -> Embeddings:
        """Images as the data give them: pictures, or features computed beforehand."""
        return self.images(self.augment(images) if images.dtype == torch.uint8 else images)

    # Training

    def start(self, train: Dataset) -> None:
        """Take pretrained weights, the moments of precomputed features, and a model's own embeddings."""
        load_pretrained(self.images)
        load_pretrained(self.captions)
        features = features_of(train)
        for part in self.images.modules():
            if features and isinstance(part, Standardised):
                part.fit(torch.tensor(features.mean), torch.tensor(features.std))
        if self.own:
            begin_as(self.images, own_projection(self.own, "visual"))
            begin_as(self.captions, own_projection(self.own, "text"))

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take another run's weights; only the image encoder itself, pretrained, and what is learned of
        the loss may be absent there."""
        if reader(learned) != self.reader:
            raise PolymodalError(
                "--init names a run with another vocabulary: start from a run on the same data."
            )
        parameters = self.state_dict()
        weights = {k: v for k, v in weights.items() if k in parameters or not k.startswith("loss.")}
        absent = parameters.keys() - weights.keys()
        lost = {
            name for name in absent if not name.startswith(("images.encoder.encoder.", "loss."))
        }
        lost |= {
            k for k, v in weights.items() if k not in parameters or parameters[k].shape != v.shape
        }
        if lost:
            raise PolymodalError(
                "--init names a run with another shape of model, by its weights "
                f"{', '.join(sorted(lost)[:5])}. Give the same model settings."
            )
        self.load_state_dict(weights, strict=False)

    def examples(self, dataset: Dataset) -> Pairs:
        return Pairs(dataset, self.reader)

    def training_step(self, batch: PairBatch, batch_idx: int) -> dict[str, Tensor]:
        """The loss over all processes' pairs together, and what it is for one pair."""
        images = together(self.embed_images(batch.images))
        captions = together(self.captions(batch.tokens, batch.lengths))
        warm = self.global_step < self.config.warmup
        loss = self.loss(self.measure(images, captions), gather(batch.owner), warm)
        if self.vib:
            weight = self.vib * self.loss.weight(len(images))
            loss = loss + weight * (excess(images) + excess(captions))
        return {"loss": loss, "shown": loss.detach() / len(images)}

    def configure_optimizers(self) -> Any:
        moving = [p for p in self.parameters() if p.requires_grad]
        adam = torch.optim.Adam(moving, lr=self.config.lr)
        falls = self.config.decay_at * self.clock.last
        decay = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: 1.0 if step < falls else 0.1)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": decay, "interval": "step"}}

    def symptom(self, loss: float) -> str | None:
        return self.loss.symptom(loss)

    # Use

    @torch.no_grad()
    def encode_images(self, images: Sequence[Any], block: int = 256) -> Embeddings:
        """Embed pictures: paths, PIL images, arrays `h w 3` of uint8, or a mix of them."""
        if isinstance(images, str | Path) or not hasattr(images, "__len__"):
            raise PolymodalError(
                f"encode_images takes a list of images, such as ['image.png'], not {images!r}."
            )
        parts = (images[start : start + block] for start in range(0, max(len(images), 1), block))
        pictures = (torch.from_numpy(as_pictures(part, self.size)) for part in parts)
        return self.embed_blocks(picture.permute(0, 3, 1, 2) for picture in pictures)

    @torch.no_grad()
    def encode_dataset(self, dataset: Dataset, block: int = 256) -> Embeddings:
        """Embed every image of a split."""
        features = features_of(dataset)
        if features and features.encoder != self.made_by:
            raise PolymodalError(
                f"These features are those of {features.encoder}, but the model was trained on "
                f"{f'features of {self.made_by}' if self.made_by else 'pictures'}."
            )
        n = len(dataset)
        return self.embed_blocks(
            inputs(dataset, range(start, min(start + block, n))) for start in range(0, n, block)
        )

    def embed_blocks(self, blocks: Iterable[Shaped[Tensor, "b ..."]]) -> Embeddings:
        """Embed images block by block, pictures as features where the model was trained on those."""
        self.eval()
        return joined([self.embed_images(self.ready(block)) for block in blocks])

    def ready(self, images: Shaped[Tensor, "b ..."]) -> Shaped[Tensor, "b ..."]:
        """Images on the device, in the form that the encoder takes."""
        images = images.to(self.device)
        if self.made_by and images.dtype == torch.uint8:
            features: Tensor = extractor(self.made_by, self.size).to(self.device)(images)
            return features
        return images

    def encode_texts(self, texts: Sequence[str], block: int = 512) -> Embeddings:
        """Embed a user's texts; one without a word that the model knows is refused."""
        several = not isinstance(texts, str) and hasattr(texts, "__len__")
        if not several or not all(isinstance(text, str) for text in texts):
            raise PolymodalError("encode_texts takes a list of texts, such as ['a red cube'].")
        for text in texts:
            strange_words(self.reader, text)
        return self.encode_captions(texts, block)

    @torch.no_grad()
    def encode_captions(self, texts: Sequence[str], block: int = 512) -> Embeddings:
        """Embed captions of data, of which the model may know no word: that is for scores to tell."""
        self.eval()
        blocks = []
        for start in range(0, max(len(texts), 1), block):
            part = texts[start : start + block] or [""]  # of nothing, rows of the right width
            tokens, lengths = self.reader.encode_batch(part)
            blocks.append(self.captions(tokens.to(self.device), lengths.to(self.device)))
        return joined(blocks)[: len(texts)]

    def validate(self, dataset: Dataset) -> dict[str, float]:
        """Recalls both ways, hubness and, for Gaussians, what their entropy tells: enough to select by."""
        return self.selection_scores(*self.embedded(dataset))

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """What `validate` gives; precision where a query has several right answers, as an image has its
        captions and, on scenes, a caption all those of which it is true; how far what a search claims is
        from what is observed; and words not met before."""
        images, captions, owner = self.embedded(dataset)
        scores = self.selection_scores(images, captions, owner)
        true = true_pairs(dataset, owner.device)
        scores |= precisions(self.measure, images, captions, owner, true)
        scores |= calibration_errors(self.protocol()["similarity"], images, captions, owner)
        if isinstance(self.reader, Vocabulary):
            texts = [text for image_texts in captions_of(dataset) for text in image_texts]
            scores["unknown_words"] = unknown_words(self.reader, texts)
        return scores

    def embedded(self, dataset: Dataset) -> tuple[Embeddings, Embeddings, Int[Tensor, " n"]]:
        """The images and captions of a split, and which image each caption belongs to."""
        texts = captions_of_each(dataset)
        images = self.encode_dataset(dataset)
        captions = self.encode_captions([text for image_texts in texts for text in image_texts])
        return images, captions, owners(texts).to(self.device)

    def selection_scores(
        self, images: Embeddings, captions: Embeddings, owner: Int[Tensor, " n"]
    ) -> dict[str, float]:
        """The scores that are measured at every validation."""
        fold, bounds = self.config.fold, self.bounds
        return selection_scores(self.measure, images, captions, owner, fold=fold, bounds=bounds)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """What is wrong with a model that scores so, in plain words: hubs, variances that stand still."""
        symptoms = [hubness_symptom(scores)] if "i2t_hubness" in scores else []
        for side in ("image", "caption"):
            start = f"{side}_"
            variances = {k.removeprefix(start): v for k, v in scores.items() if k.startswith(start)}
            if variances:
                symptoms.append(collapse_symptom(variances))
        return [symptom for symptom in symptoms if symptom]

    def protocol(self) -> dict[str, Any]:
        name = getattr(self.measure, "name", "cosine")
        return {"similarity": name, "ties": "against the model", "fold": self.config.fold}

    def search(self, query: str | Sequence[str] | None = None, *, index: Any, **how: Any) -> Any:
        """What fits a text, or `image=`, best of an index, and how sure that is.

        Options are those of `search.asking.answer_query`.
        """
        return answer_query(self, query, index=index, **how)


def together(mine: Embeddings) -> Embeddings:
    """The embeddings of all processes in their order."""
    if isinstance(mine, DiagonalGaussian):
        return DiagonalGaussian(gather(mine.mean), gather(mine.log_var))
    return gather(mine)
