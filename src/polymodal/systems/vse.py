"""VSE++: images and captions as points of one space, learned from hard negatives (001, §2–3).

An image encoder and a GRU, each followed by a linear map to ℓ2-normalised vectors (001, eq. 3, 9);
the hinge loss pulls a caption to its image and away from the hardest wrong one of the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int, Shaped
from lightning import LightningModule
from torch import Tensor, nn
from torch.nn.functional import normalize

from polymodal.data.features import Features
from polymodal.data.given import as_pictures
from polymodal.data.pairs import PairBatch, Pairs, captions_of, inputs, owners
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary
from polymodal.distributed import gather
from polymodal.errors import PolymodalError
from polymodal.metrics.retrieval import retrieval, retrieval_in_folds
from polymodal.nn.augment import RandomCrop
from polymodal.nn.encoders import describe, extractor, image_encoder, load_pretrained
from polymodal.nn.images import Standardised
from polymodal.nn.texts import GRUEncoder
from polymodal.ranking import Negatives, hinge
from polymodal.similarity import cosine, top_k


@dataclass(frozen=True, kw_only=True)
class Config:
    """A VSE++ model; the defaults are the paper's (001, §3.1)."""

    image_encoder: str = "convnet"
    """convnet (ours, from scratch), efficientnet-lite0, or a transformers model: hub id or folder."""
    convnet_width: int = 32
    """Channels of the convnet's first stage; each further stage doubles them."""
    finetune: bool = False
    """Train a pretrained image encoder too (the second phase; start it with --init RUN)."""
    embed_dim: int = 1024
    """D, the dimension of the joint space."""
    word_dim: int = 300
    """The dimension of the word vectors."""
    word_scale: float = 0.1
    """Word vectors start evenly between plus and minus this; 1 learns sooner from little data."""
    hidden: int = 1024
    """The GRU's state."""
    margin: float = 0.2
    """α of the hinge loss."""
    negatives: Negatives = "hardest"
    """hardest (VSE++), sum (VSE0) or semi-hard in-batch negatives."""
    warmup: int = 0
    """Steps with summed negatives first, which keeps the hardest ones from collapsing the space."""
    lr: float = 2e-4
    """Adam's learning rate."""
    decay_at: float = 0.5
    """The share of the budget after which the rate is divided by ten (15 of 30 epochs)."""
    crop: float = 1.0
    """Side of the random training crop, as a share of the picture's; 1 for none."""
    flip: bool = False
    """Mirror half of the training pictures (it makes 'left' and 'right' lie)."""
    fold: int = 1000
    """Images a fold of the evaluation, beside that over all of them together."""

    def __post_init__(self) -> None:
        for name in ("embed_dim", "word_dim", "hidden", "lr", "fold"):
            if getattr(self, name) <= 0:
                raise PolymodalError(f"{name} must be above 0, not {getattr(self, name)}.")
        if self.convnet_width <= 0 or self.convnet_width % 8:
            raise PolymodalError(
                f"convnet_width must be a multiple of 8, not {self.convnet_width}."
            )
        if not 0 < self.crop <= 1:
            raise PolymodalError(
                f"crop is a share of the side, above 0 and at most 1, not {self.crop}."
            )
        if self.margin <= 0:
            raise PolymodalError(f"margin must be above 0, not {self.margin}: no margin, no loss.")
        if not 0 <= self.decay_at <= 1:
            raise PolymodalError(f"decay_at is a share of the budget, 0 to 1, not {self.decay_at}.")


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The vocabulary of the training captions alone, and what the images come as."""
    texts = captions_of(train)
    if not texts:
        raise PolymodalError("The training split is empty: there is nothing to learn from.")
    vocabulary = Vocabulary.of(text for own in texts for text in own)
    size = train.images([0]).shape[1]
    cropped = round(size * config.crop)
    if cropped < 8:
        raise PolymodalError(
            f"crop={config.crop} leaves {cropped} of {size} pixels a side; at least 8 are needed."
        )
    if isinstance(train, Features):
        encoder = {"kind": "features", "made_by": train.encoder, "dim": len(train.mean)}
    else:
        encoder = describe(config.image_encoder, cropped)
    return {"vocabulary": list(vocabulary.words), "size": size, "image_encoder": encoder}


def build(config: Config, learned: dict[str, Any]) -> "VSE":
    """The model, given what `learn` found."""
    encoder = learned["image_encoder"]
    if encoder["kind"] == "features" and config.finetune:
        raise PolymodalError(
            "finetune moves the image encoder, but these are features that it made beforehand. "
            "Leave out --features, and start from the first phase with --init RUN."
        )
    return VSE(
        config=config,
        vocabulary=Vocabulary(tuple(learned["vocabulary"])),
        size=learned["size"],
        image_encoder=image_encoder(encoder, width=config.convnet_width, finetune=config.finetune),
        made_by=encoder.get("made_by"),
    )


class VSE(LightningModule):
    """Two encoders, two linear maps, one sphere."""

    monitor = "rsum"

    def __init__(
        self,
        *,
        config: Config,
        vocabulary: Vocabulary,
        size: int,
        image_encoder: nn.Module,
        made_by: str | None = None,
    ) -> None:
        super().__init__()
        self.config, self.vocabulary, self.size = config, vocabulary, size
        self.made_by = made_by
        self.augment = RandomCrop(config.crop, config.flip)
        self.image_encoder = image_encoder
        self.image_head = nn.Linear(int(image_encoder.dim), config.embed_dim)  # type: ignore[arg-type]
        self.caption_encoder = GRUEncoder(
            len(vocabulary), config.word_dim, config.hidden, config.word_scale
        )
        self.caption_head = nn.Linear(config.hidden, config.embed_dim)

    def embed_images(self, images: Shaped[Tensor, "b ..."]) -> Float[Tensor, "b d"]:
        """Images, as the data give them, on the unit sphere (001, eq. 3)."""
        if images.dtype == torch.uint8:
            images = self.augment(images)
        return normalize(self.image_head(self.image_encoder(images)), dim=-1)

    def embed_captions(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b d"]:
        """Captions on the unit sphere (001, eq. 9)."""
        return normalize(self.caption_head(self.caption_encoder(tokens, lengths)), dim=-1)

    # Training

    def start(self, train: Dataset) -> None:
        """Take pretrained weights, and the moments of precomputed features."""
        load_pretrained(self.image_encoder)
        if isinstance(train, Features) and isinstance(self.image_encoder, Standardised):
            self.image_encoder.fit(torch.tensor(train.mean), torch.tensor(train.std))

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take another run's weights; only the image encoder itself, pretrained, may be absent there."""
        if tuple(learned["vocabulary"]) != self.vocabulary.words:
            raise PolymodalError(
                "--init names a run with another vocabulary: start from a run on the same data."
            )
        own = self.state_dict()
        absent = own.keys() - weights.keys()
        lost = {name for name in absent if not name.startswith("image_encoder.encoder.")}
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
        images = gather(self.embed_images(batch.images))
        captions = gather(self.embed_captions(batch.tokens, batch.lengths))
        warm = self.global_step < self.config.warmup
        loss = hinge(
            cosine(images, captions),
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
    def encode_images(self, images: Sequence[Any], block: int = 256) -> Float[Tensor, "b d"]:
        """Embed pictures: paths, PIL images, arrays `h w 3` of uint8, or a mix of them."""
        self.eval()
        found = []
        for start in range(0, len(images), block):
            pictures = as_pictures(images[start : start + block], self.size)
            ready = self.ready(torch.from_numpy(pictures).permute(0, 3, 1, 2))
            found.append(self.embed_images(ready))
        return self.rows(found)

    @torch.no_grad()
    def encode_texts(self, texts: Sequence[str], block: int = 512) -> Float[Tensor, "b d"]:
        """Embed captions."""
        self.eval()
        found = []
        for start in range(0, len(texts), block):
            tokens, lengths = self.vocabulary.encode_batch(texts[start : start + block])
            found.append(self.embed_captions(tokens.to(self.device), lengths.to(self.device)))
        return self.rows(found)

    @torch.no_grad()
    def encode_dataset(self, dataset: Dataset, block: int = 256) -> Float[Tensor, "m d"]:
        """Embed every image of a split."""
        if isinstance(dataset, Features) and dataset.encoder != self.made_by:
            raise PolymodalError(
                f"These features are those of {dataset.encoder}, but the model was trained on "
                f"{f'features of {self.made_by}' if self.made_by else 'pictures'}."
            )
        self.eval()
        found = []
        for start in range(0, len(dataset), block):
            images = inputs(dataset, range(start, min(start + block, len(dataset))))
            found.append(self.embed_images(self.ready(images)))
        return self.rows(found)

    def rows(self, found: list[Tensor]) -> Float[Tensor, "m d"]:
        """Blocks of embeddings as one; of nothing, no rows."""
        return torch.cat(found) if found else torch.empty(0, self.config.embed_dim)

    def ready(self, images: Shaped[Tensor, "b ..."]) -> Shaped[Tensor, "b ..."]:
        """Images on the device, pictures as features where the model was trained on those."""
        images = images.to(self.device)
        if self.made_by and images.dtype == torch.uint8:
            found: Tensor = extractor(self.made_by, self.size).to(self.device)(images)
            return found
        return images

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """Recalls both ways over the whole split, and their mean over folds where it has several."""
        texts = captions_of(dataset)
        owner = owners(texts).to(self.device)
        images = self.encode_dataset(dataset)
        captions = self.encode_texts([text for own in texts for text in own])
        scores = retrieval(cosine, images, captions, owner)
        if len(images) >= 2 * self.config.fold:
            folds = retrieval_in_folds(cosine, images, captions, owner, self.config.fold)
            scores |= {f"fold_{name}": value for name, value in folds.items()}
        return scores

    def protocol(self) -> dict[str, Any]:
        return {"similarity": "cosine", "ties": "against the model", "fold": self.config.fold}

    def best_images(self, query: str, dataset: Dataset, k: int = 5) -> list[tuple[int, float]]:
        """The images of a split that a text fits best: their places and scores."""
        scores, places = top_k(cosine, self.encode_texts([query]), self.encode_dataset(dataset), k)
        return list(zip(places[0].tolist(), scores[0].tolist(), strict=True))
