"""Image–caption pairs by the batch: every caption of every image is one training example."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from polymodal.data.batches import Batch
from polymodal.data.features import Features
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


class Pairs:
    """All pairs of a split; a batch reads the images that it needs."""

    def __init__(self, dataset: Dataset, reader: Vocabulary | Tokens) -> None:
        self.dataset = dataset
        texts = captions_of(dataset)
        self.owner = owners(texts)
        self.tokens, self.lengths = reader.encode_batch([t for own in texts for t in own])

    def __len__(self) -> int:
        return len(self.owner)

    def batch(self, indices: Int[np.ndarray, " b"]) -> PairBatch:
        """The pairs at these places, padded to the longest of their captions."""
        places = torch.from_numpy(indices)
        lengths = self.lengths[places]
        owner = self.owner[places]
        return PairBatch(
            images=inputs(self.dataset, owner.tolist()),
            tokens=self.tokens[places, : int(lengths.max())],
            lengths=lengths,
            owner=owner,
        )

    def resident(self, device: torch.device) -> "ResidentPairs":
        """The same pairs on a device."""
        return ResidentPairs(self, device)


class ResidentPairs:
    """The same pairs kept whole on one device, pictures as uint8: no batch ever waits for the host."""

    def __init__(self, pairs: Pairs, device: torch.device, block: int = 1024) -> None:
        n = len(pairs.dataset)
        blocks = (range(start, min(start + block, n)) for start in range(0, n, block))
        self.images = torch.cat([inputs(pairs.dataset, part).to(device) for part in blocks])
        self.on_host = pairs.lengths.numpy()  # what the padding of a batch is read from
        self.tokens, self.lengths = pairs.tokens.to(device), pairs.lengths.to(device)
        self.owner = pairs.owner.to(device)

    def __len__(self) -> int:
        return len(self.owner)

    def batch(self, indices: Int[np.ndarray, " b"]) -> PairBatch:
        """The pairs at these places, gathered on the device."""
        places = torch.from_numpy(indices).to(self.images.device)
        owner = self.owner[places]
        return PairBatch(
            images=self.images[owner],
            tokens=self.tokens[places, : int(self.on_host[indices].max())],
            lengths=self.lengths[places],
            owner=owner,
        )


def inputs(dataset: Dataset, indices: Sequence[int]) -> Shaped[Tensor, "b ..."]:
    """What an image encoder takes: pictures as uint8 `b 3 h w`, or features where they were computed."""
    if isinstance(dataset, Features):
        return torch.from_numpy(dataset.vectors(indices))
    return torch.from_numpy(dataset.images(indices)).permute(0, 3, 1, 2)


def captions_of(dataset: Dataset) -> list[list[str]]:
    """The captions' texts, image by image, without touching a pixel."""
    return [[caption.text for caption in dataset.captions(i)] for i in range(len(dataset))]


def owners(texts: Sequence[Sequence[str]]) -> Int[Tensor, " n"]:
    """Which image each caption belongs to, when captions are listed image by image.

    >>> owners([["a", "b"], ["c"]])
    tensor([0, 0, 1])
    """
    counts = torch.tensor([len(own) for own in texts])
    return torch.repeat_interleave(torch.arange(len(texts)), counts)
