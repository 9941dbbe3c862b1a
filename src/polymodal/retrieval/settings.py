"""What every retrieval system can be told, what it learns from its data, and its encoders."""

from dataclasses import dataclass
from typing import Any

from torch import nn

from polymodal.data.features import Features
from polymodal.data.pairs import captions_of
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary
from polymodal.errors import PolymodalError
from polymodal.nn.encoders import describe, image_encoder
from polymodal.nn.texts import GRUEncoder
from polymodal.ranking import Negatives


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every retrieval system can be told; the defaults are the paper's (001, §3.1)."""

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
        for name in ("embed_dim", "word_dim", "word_scale", "hidden", "lr", "fold"):
            if not 0 < getattr(self, name) < float("inf"):
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


def learn(config: Settings, train: Dataset) -> dict[str, Any]:
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


def image_part(config: Settings, learned: dict[str, Any]) -> nn.Module:
    """The image encoder that `learn` described."""
    encoder = learned["image_encoder"]
    if encoder["kind"] == "features" and config.finetune:
        raise PolymodalError(
            "finetune moves the image encoder, but these are features that it made beforehand. "
            "Leave out --features, and start from the first phase with --init RUN."
        )
    return image_encoder(encoder, width=config.convnet_width, finetune=config.finetune)


def caption_part(config: Settings, learned: dict[str, Any]) -> GRUEncoder:
    """A caption encoder over the vocabulary that was learned."""
    return GRUEncoder(len(learned["vocabulary"]), config.word_dim, config.hidden, config.word_scale)
