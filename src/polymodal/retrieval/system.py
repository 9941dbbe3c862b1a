"""Two towers and a measure: training, evaluation and use."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Shaped
from lightning import LightningModule
from torch import Tensor, nn

from polymodal.data.features import Features
from polymodal.data.given import as_pictures
from polymodal.data.pairs import PairBatch, Pairs, captions_of, inputs, owners
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary
from polymodal.distributed import gather
from polymodal.errors import PolymodalError
from polymodal.gaussian import DiagonalGaussian
from polymodal.metrics.hubness import hubness, hubness_symptom
from polymodal.metrics.retrieval import retrieval_in_folds, summarise
from polymodal.metrics.uncertainty import collapse_symptom, uncertainty_summary, variance_collapse
from polymodal.nn.augment import RandomCrop
from polymodal.nn.encoders import extractor, load_pretrained
from polymodal.nn.images import Standardised
from polymodal.ranking import hinge
from polymodal.retrieval.settings import Settings
from polymodal.similarity import Embeddings, Measure, ranks, top_k, turned


class Retrieval(LightningModule):
    """Two towers and a measure."""

    monitor = "rsum"

    def __init__(
        self,
        *,
        config: Settings,
        learned: dict[str, Any],
        images: nn.Module,
        captions: nn.Module,
        measure: Measure,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        super().__init__()
        self.config, self.measure, self.bounds = config, measure, bounds
        self.vocabulary = Vocabulary(tuple(learned["vocabulary"]))
        self.size: int = learned["size"]
        self.made_by: str | None = learned["image_encoder"].get("made_by")
        self.augment = RandomCrop(config.crop, config.flip)
        self.images, self.captions = images, captions

    def embed_images(self, images: Shaped[Tensor, "b ..."]) -> Embeddings:
        """Images as the data give them: pictures, or features computed beforehand."""
        return self.images(self.augment(images) if images.dtype == torch.uint8 else images)

    # Training

    def start(self, train: Dataset) -> None:
        """Take pretrained weights, and the moments of precomputed features."""
        load_pretrained(self.images)
        for part in self.images.modules():
            if isinstance(train, Features) and isinstance(part, Standardised):
                part.fit(torch.tensor(train.mean), torch.tensor(train.std))

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take another run's weights; only the image encoder itself, pretrained, may be absent there."""
        if tuple(learned["vocabulary"]) != self.vocabulary.words:
            raise PolymodalError(
                "--init names a run with another vocabulary: start from a run on the same data."
            )
        own = self.state_dict()
        absent = own.keys() - weights.keys()
        lost = {name for name in absent if not name.startswith("images.encoder.encoder.")}
        lost |= {k for k, v in weights.items() if k not in own or own[k].shape != v.shape}
        if lost:
            raise PolymodalError(
                "--init names a run with another shape of model, by its weights "
                f"{', '.join(sorted(lost)[:5])}. Give the same model settings."
            )
        self.load_state_dict(weights, strict=False)

    def examples(self, dataset: Dataset) -> Pairs:
        return Pairs(dataset, self.vocabulary)

    def training_step(self, batch: PairBatch, batch_idx: int) -> dict[str, Tensor]:
        """The loss over all processes' pairs together, and what it is for one pair."""
        images = together(self.embed_images(batch.images))
        captions = together(self.captions(batch.tokens, batch.lengths))
        warm = self.global_step < self.config.warmup
        loss = hinge(
            self.measure(images, captions),
            self.config.margin,
            "sum" if warm else self.config.negatives,
            gather(batch.owner),
        )
        return {"loss": loss, "shown": loss.detach() / len(images)}

    def configure_optimizers(self) -> Any:
        moving = [p for p in self.parameters() if p.requires_grad]
        adam = torch.optim.Adam(moving, lr=self.config.lr)
        turn = self.config.decay_at * self.trainer.max_steps
        decay = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: 1.0 if step < turn else 0.1)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": decay, "interval": "step"}}

    def symptom(self, loss: float) -> str | None:
        stuck = 2 * self.config.margin
        if self.config.negatives == "hardest" and abs(loss - stuck) < 0.005 * stuck:
            return (
                f"The loss sits at twice the margin ({stuck:g} a pair): every image and caption has "
                "landed on one point. Try --warmup 500 (summed negatives first), --negatives sum, "
                "a smaller --lr or a larger --batch-size."
            )
        return None

    # Use

    @torch.no_grad()
    def encode_images(self, images: Sequence[Any], block: int = 256) -> Embeddings:
        """Embed pictures: paths, PIL images, arrays `h w 3` of uint8, or a mix of them."""
        if isinstance(images, str | Path):
            raise PolymodalError(f"encode_images takes a list: [{str(images)!r}].")
        parts = (images[start : start + block] for start in range(0, max(len(images), 1), block))
        pictures = (torch.from_numpy(as_pictures(part, self.size)) for part in parts)
        return self.embed_blocks(picture.permute(0, 3, 1, 2) for picture in pictures)

    @torch.no_grad()
    def encode_dataset(self, dataset: Dataset, block: int = 256) -> Embeddings:
        """Embed every image of a split."""
        if isinstance(dataset, Features) and dataset.encoder != self.made_by:
            raise PolymodalError(
                f"These features are those of {dataset.encoder}, but the model was trained on "
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
            found: Tensor = extractor(self.made_by, self.size).to(self.device)(images)
            return found
        return images

    @torch.no_grad()
    def encode_texts(self, texts: Sequence[str], block: int = 512) -> Embeddings:
        """Embed captions."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise PolymodalError("encode_texts takes a list of texts, such as ['a red cube'].")
        self.eval()
        found = []
        for start in range(0, max(len(texts), 1), block):
            part = texts[start : start + block] or [
                ""
            ]  # of nothing, no rows, but of the right width
            tokens, lengths = self.vocabulary.encode_batch(part)
            found.append(self.captions(tokens.to(self.device), lengths.to(self.device)))
        return joined(found)[: len(texts)]

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """Recalls both ways over the whole split, and their mean over folds where it has several; hubness;
        and for Gaussians, whether their entropy tells right answers from wrong ones."""
        texts = captions_of(dataset)
        owner = owners(texts).to(self.device)
        images = self.encode_dataset(dataset)
        captions = self.encode_texts([text for own in texts for text in own])
        i2t, t2i = ranks(self.measure, images, captions, owner)
        scores = summarise(i2t, t2i) | hubness(self.measure, images, captions)
        for side, embedded, rank in (("image", images, i2t), ("caption", captions, t2i)):
            if isinstance(embedded, DiagonalGaussian) and self.bounds:
                found = uncertainty_summary(rank, embedded.log_det())
                found |= variance_collapse(embedded, *self.bounds)
                scores |= {f"{side}_{name}": value for name, value in found.items()}
        if len(images) >= 2 * self.config.fold:
            folds = retrieval_in_folds(self.measure, images, captions, owner, self.config.fold)
            scores |= {f"fold_{name}": value for name, value in folds.items()}
        return scores

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """What is wrong with a model that scores so, in plain words: hubs, variances that stand still."""
        found = [hubness_symptom(scores)] if "i2t_hubness" in scores else []
        for side in ("image", "caption"):
            start = f"{side}_"
            own = {k.removeprefix(start): v for k, v in scores.items() if k.startswith(start)}
            if own:
                found.append(collapse_symptom(own))
        return [symptom for symptom in found if symptom]

    def protocol(self) -> dict[str, Any]:
        name = getattr(self.measure, "name", "cosine")
        return {"similarity": name, "ties": "against the model", "fold": self.config.fold}

    def best_images(self, query: str, dataset: Dataset, k: int = 5) -> list[tuple[int, float]]:
        """The images of a split that a text fits best: their places and scores."""
        texts, images = self.encode_texts([query]), self.encode_dataset(dataset)
        scores, places = top_k(turned(self.measure), texts, images, k)
        return list(zip(places[0].tolist(), scores[0].tolist(), strict=True))


def together(mine: Embeddings) -> Embeddings:
    """The embeddings of all processes in their order."""
    if isinstance(mine, DiagonalGaussian):
        return DiagonalGaussian(gather(mine.mean), gather(mine.log_var))
    return gather(mine)


def joined(blocks: list[Any]) -> Embeddings:
    """Blocks of embeddings as one."""
    if isinstance(blocks[0], DiagonalGaussian):
        return DiagonalGaussian.join(blocks)
    return torch.cat(blocks)
