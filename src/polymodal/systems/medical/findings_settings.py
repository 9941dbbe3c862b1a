"""Settings of the systems that tell findings from images, trained beside their reports."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Eights, Positive, ShareOfSide, Weight, check_ranges
from polymodal.systems.medical.information_settings import InformationSettings

LEARNED = "learned"
"""Word vectors that are learned along."""


@dataclass(frozen=True, kw_only=True)
class Config(InformationSettings):
    """Encoders of images and reports, and the bounds between them. Not a medical device."""

    reads: Literal["both", "image"] = "both"
    """What is learned from: images with their reports, or images alone (the baseline)."""
    image_encoder: str = "convnet"
    """convnet (ours, from scratch), efficientnet-lite0, or a transformers ResNet: hub id or folder;
    pretrained weights are trained on."""
    convnet_width: Eights = 32
    """Channels of the convnet's first stage; each further stage doubles them."""
    words: str = LEARNED
    """learned, or a text file of word vectors such as glove.6B.300d.txt."""
    word_dim: Positive[int] = 300
    """Dimension of learned word vectors."""
    finetune_words: bool = False
    """Train the word vectors of a file too; the thesis found that it does harm (§8.3.3)."""
    text_width: Positive[int] = 256
    """Feature maps of the report encoder."""
    text_blocks: Positive[int] = 3
    """Residual blocks of the report encoder."""
    most_words: Positive[int] = 128
    """Words of a report that are read; the rest is cut off."""
    embed_dim: Positive[int] = 256
    """Dimension of the bilinear embedding of image and report."""
    lambda_lg: Weight[float] = 0.1
    """Weight of the local–global bounds (eq. 8.3.3, 8.3.5)."""
    class_weight: Weight[float] = 1.0
    """Weight λ_C of the classification loss (eq. 8.3.5)."""
    balance: bool = False
    """Let each finding's positive items count as much as its negative ones, 20 times as much at most."""
    crop: ShareOfSide = 0.9
    """Side of the random training crop, as a fraction of the image's; 1 for none."""
    lr: Positive[float] = 1e-4
    """Learning rate of Adam."""
    decay: bool = False
    """Cosine decay of the learning rate to 0."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.pairs != "modalities" or self.elsewhere:
            raise PolymodalError(
                "A word of a report is at no place of the image: each place is paired with a random word "
                "of its report. Leave out --pairs and --elsewhere."
            )
        if self.finetune_words and self.words == LEARNED:
            raise PolymodalError(
                "--finetune-words is about word vectors of a file: give it as --words."
            )
        self.check_teachers(["image", "text"])
