"""What every retrieval system can be told, what it learns from its data, and its encoders."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Eights, Positive, Range, ShareOfSide, Steps, Weight, check_ranges
from polymodal.data.features import features_of
from polymodal.data.pairs import captions_of_each
from polymodal.data.records import Dataset
from polymodal.data.tokens import Tokens
from polymodal.data.vocabulary import Vocabulary
from polymodal.maths.ranking import Negatives
from polymodal.nn.caption_encoders import FrozenText, GRUEncoder
from polymodal.nn.named_encoders import describe, describe_text, image_encoder

MOST = 100.0
"""The largest scale that is learned (CLIP)."""

OWN: dict[str, dict[str, Any]] = {
    "hinge": {"margin": 0.2, "negatives": "hardest", "warmup": 0},
    "sigmoid": {"bias": 0.0, "pseudo_positives": 0.0},
}
"""The settings of one loss alone, which would do nothing beside another, and their defaults."""

Margin = Annotated[float, Range("must be above 0", lambda n: n > 0, ": no margin, no loss")]
ShareOfBudget = Annotated[float, Range("is a share of the budget, 0 to 1", lambda n: 0 <= n <= 1)]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of every retrieval system; the defaults are the paper's (001, §3.1)."""

    image_encoder: str = "convnet"
    """convnet (ours, from scratch), efficientnet-lite0, or a transformers model: hub id or folder."""
    convnet_width: Eights = 32
    """Channels of the convnet's first stage; each further stage doubles them."""
    finetune: bool = False
    """Train a pretrained image encoder too (the second phase; start it with --init RUN)."""
    freeze_norm: bool = False
    """While fine-tuning, use the running statistics of its batch norms instead of each batch's own."""
    text_encoder: str = "gru"
    """gru (ours, from scratch) or a frozen transformers text model: hub id or folder."""
    own_embeddings: bool = False
    """Start from the embeddings of --image-encoder and --text-encoder themselves, one CLIP or
    SigLIP model: it gains variances and keeps its means."""
    embed_dim: Positive[int] = 1024
    """Dimension of the joint embedding space, D."""
    word_dim: Positive[int] = 300
    """Dimension of the word vectors."""
    word_scale: Positive[float] = 0.1
    """Word vectors are initialised uniformly in ± this value; 1 learns faster from little data."""
    hidden: Positive[int] = 1024
    """State size of the GRU."""
    loss: Literal["hinge", "infonce", "sigmoid"] = "hinge"
    """hinge (VSE++), infonce (CLIP; with cosines start at --scale 14 --learn-scale) or sigmoid
    (SigLIP; with cosines start at --scale 10 --bias -10 --learn-scale)."""
    scale: Positive[float] = 1.0
    """Factor on the similarity in the loss (1 / temperature); the initial value with --learn-scale."""
    learn_scale: bool = False
    """Learn the scale too, up to 100."""
    bias: float = 0.0
    """Initial value of the learned bias of the sigmoid loss: near minus the scaled score of a good
    pair."""
    pseudo_positives: Weight[float] = 0.0
    """Weight of a second sigmoid loss, in which a negative that scores at least as high as the true
    pair counts as positive (PCME++: 0.1)."""
    margin: Margin = 0.2
    """α of the hinge loss."""
    negatives: Negatives = "hardest"
    """In-batch negatives of the hinge loss: hardest (VSE++), sum (VSE0) or semi-hard."""
    warmup: Steps[int] = 0
    """Steps with summed negatives first, to prevent the collapse of the hardest negatives."""
    lr: Positive[float] = 2e-4
    """Learning rate of Adam."""
    decay_at: ShareOfBudget = 0.5
    """Fraction of the budget after which the learning rate is divided by ten (15 of 30 epochs)."""
    crop: ShareOfSide = 1.0
    """Side of the random training crop, as a fraction of the image's; 1 for none."""
    flip: bool = False
    """Flip half of the training images horizontally ('left' and 'right' in captions become false)."""
    fold: Positive[int] = 1000
    """Images per fold of the evaluation; it also evaluates all images together."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.freeze_norm and not self.finetune:
            raise PolymodalError("freeze_norm is about fine-tuning: give --finetune too.")
        if self.own_embeddings and self.text_encoder == "gru":
            raise PolymodalError(
                "own_embeddings begins with those of one model of images and texts: give it as "
                "--text-encoder, and as --image-encoder or the encoder of --features."
            )
        self._check_loss()

    def _check_loss(self) -> None:
        """Refuse what the loss would not heed, or cannot begin with."""
        for loss, options in OWN.items():
            for name, default in options.items():
                if self.loss != loss and getattr(self, name) != default:
                    raise PolymodalError(
                        f"{name} is a setting of the {loss} loss, but the loss is {self.loss}. "
                        f"Leave it at {default}, or choose --loss {loss}."
                    )
        if self.learn_scale and self.scale > MOST:
            raise PolymodalError(
                f"A learned scale starts at {MOST:g} at most, not {self.scale:g}, since it is capped "
                "there. Start lower, or leave --learn-scale out."
            )


def learn(config: Settings, train: Dataset) -> dict[str, Any]:
    """What the captions are read by (for the GRU, the words of the training captions alone), and what
    the images come as."""
    texts = captions_of_each(train)
    if not texts:
        raise PolymodalError("The training split is empty: there is nothing to learn from.")
    size = train.images([0]).shape[1]
    cropped = round(size * config.crop)
    if cropped < 8:
        raise PolymodalError(
            f"crop={config.crop} leaves {cropped} of {size} pixels a side; at least 8 are needed."
        )
    if features := features_of(train):
        encoder = {"kind": "features", "made_by": features.encoder, "dim": len(features.mean)}
    else:
        encoder = describe(config.image_encoder, cropped)
    learned = {"size": size, "image_encoder": encoder}
    if config.text_encoder != "gru":
        return learned | {"text_encoder": describe_text(config.text_encoder)}
    vocabulary = Vocabulary.of([text for image_texts in texts for text in image_texts])
    return {"vocabulary": list(vocabulary.words), **learned}


def reader(learned: dict[str, Any]) -> Vocabulary | Tokens:
    """What turns captions into the numbers that the caption encoder takes."""
    if "text_encoder" not in learned:
        return Vocabulary(tuple(learned["vocabulary"]))
    return Tokens.of(learned["text_encoder"])


def image_part(config: Settings, learned: dict[str, Any]) -> nn.Module:
    """The image encoder that `learn` described."""
    encoder = learned["image_encoder"]
    if encoder["kind"] == "features" and config.finetune:
        raise PolymodalError(
            "finetune moves the image encoder, but these are features that it made beforehand. "
            "Leave out --features, and start from the first phase with --init RUN."
        )
    return image_encoder(
        encoder,
        width=config.convnet_width,
        finetune=config.finetune,
        freeze_norm=config.freeze_norm,
    )


def caption_part(config: Settings, learned: dict[str, Any]) -> nn.Module:
    """A caption encoder over the vocabulary that was learned, or a frozen one that was described."""
    if "text_encoder" in learned:
        return FrozenText(learned["text_encoder"])
    return GRUEncoder(len(learned["vocabulary"]), config.word_dim, config.hidden, config.word_scale)


def own_source(learned: dict[str, Any]) -> str:
    """The one model whose image and text towers the encoders are."""
    image = learned["image_encoder"]
    sources = image.get("source") or image.get("made_by"), learned["text_encoder"]["source"]
    if sources[0] != sources[1]:
        raise PolymodalError(
            "own_embeddings begins with those of one model, but the images are encoded by "
            f"{sources[0] or image['kind']} and the texts by {sources[1]}."
        )
    return sources[1]
