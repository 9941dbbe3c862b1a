"""Image–caption pairs by the batch: every caption of every image is one training example."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import Batch, ColumnExamples, Field, Held, field_of, placed
from polymodal.data.records import Dataset
from polymodal.data.tokens import Tokens
from polymodal.data.vocabulary import Vocabulary


@dataclass(frozen=True)
class PairBatch(Batch):
    """b images (pictures or features), their captions' tokens, and which image each pair shows."""

    images: Shaped[Tensor, "b ..."]
    tokens: Int[Tensor, "b t"]
    lengths: Int[Tensor, " b"]
    owner: Int[Tensor, " b"]


class Pairs(ColumnExamples):
    """All pairs of a split: images are gathered by whose captions they are."""

    kind = PairBatch

    def __init__(self, dataset: Dataset, reader: Vocabulary | Tokens) -> None:
        texts = captions_of(dataset)
        self.owner = owners(texts)
        self.tokens, self.lengths = reader.encode_batch(
            [t for image_texts in texts for t in image_texts]
        )
        fields: dict[str, Field] = {
            "images": Owned(image_field(dataset), self.owner.numpy()),
            "tokens": Padded(self.tokens, self.lengths.numpy()),
            "lengths": Held(self.lengths),
            "owner": Held(self.owner),
        }
        super().__init__(dataset, fields)

    def __len__(self) -> int:
        return len(self.owner)


@dataclass(frozen=True)
class Owned:
    """What belongs to each pair's image, kept once an image."""

    whole: Field
    owner: Int[np.ndarray, " n"]

    def gather(self, rows: Int[np.ndarray, " b"]) -> Shaped[Tensor, "b ..."]:
        """That of the owners of these pairs."""
        return self.whole.gather(self.owner[rows])

    def resident(self, device: torch.device) -> "Owned":
        """The same on a device."""
        return Owned(self.whole.resident(device), self.owner)


@dataclass(frozen=True)
class Padded:
    """Tokens, padded to the longest text of a batch, which is known to the host."""

    tokens: Int[Tensor, "n t"]
    lengths: Int[np.ndarray, " n"]

    def gather(self, rows: Int[np.ndarray, " b"]) -> Int[Tensor, "b t"]:
        """Those of these texts."""
        places = placed(rows, self.tokens.device)
        return self.tokens[places, : int(self.lengths[rows].max())]

    def resident(self, device: torch.device) -> "Padded":
        """The same on a device."""
        return Padded(self.tokens.to(device), self.lengths)


def image_field(dataset: Dataset) -> Field:
    """What an image encoder takes: features where they were computed, else pictures."""
    return field_of(dataset, "features" if "features" in dataset.columns else "image", "Encoding")


def inputs(dataset: Dataset, indices: Sequence[int]) -> Shaped[Tensor, "b ..."]:
    """The same for some images: pictures as uint8 `b 3 h w`, or features."""
    return image_field(dataset).gather(np.asarray(indices, np.int64))


def captions_of(dataset: Dataset) -> list[list[str]]:
    """The captions' texts, image by image, without touching a pixel."""
    return [[caption.text for caption in dataset.captions(i)] for i in range(len(dataset))]


def captions_of_each(dataset: Dataset) -> list[list[str]]:
    """The same of a split in which every image has one, as ranks and texts to generate need it."""
    texts = captions_of(dataset)
    mute = [id for id, image_texts in zip(dataset.ids, texts, strict=True) if not image_texts]
    if mute:
        raise PolymodalError(
            f"Every image needs a caption here, but {len(mute):,} of {len(texts):,} have none, first "
            f"{mute[0]}. Leave them out: with coco:PATH,captioned=yes, say, or dataset.take(…)."
        )
    return texts


def owners(texts: Sequence[Sequence[str]]) -> Int[Tensor, " n"]:
    """Which image each caption belongs to, when captions are listed image by image.

    >>> owners([["a", "b"], ["c"]])
    tensor([0, 0, 1])
    """
    counts = torch.tensor([len(image_texts) for image_texts in texts])
    return torch.repeat_interleave(torch.arange(len(texts)), counts)
