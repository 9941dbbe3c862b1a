"""Images with all that is truly said of each, by the batch: one training example an image.

Which of its texts is learned from is drawn at every step, on the device, by whoever trains.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int, Int64, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import Batch
from polymodal.data.features import Features
from polymodal.data.fixed_words import BLANK, Words, spoken
from polymodal.data.pairs import captions_of
from polymodal.data.records import Dataset


@dataclass(frozen=True)
class SayingBatch(Batch):
    """b images and the numbers of the words of all k texts of each."""

    images: UInt8[Tensor, "b 3 h w"]
    texts: Int64[Tensor, "b k t"]


class Sayings:
    """All images of a split with their texts; a batch reads the images that it needs."""

    def __init__(self, dataset: Dataset, words: Words) -> None:
        if isinstance(dataset, Features):
            raise PolymodalError(
                "Pictures are needed, not features that an encoder made of them. "
                "Leave out --features."
            )
        self.dataset = dataset
        self.texts = numbered(texts_of(dataset), words)

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, indices: Int[np.ndarray, " b"]) -> SayingBatch:
        """The images at these places, with all that is said of them."""
        images = torch.from_numpy(self.dataset.images(indices.tolist()))
        return SayingBatch(images.permute(0, 3, 1, 2), self.texts[torch.from_numpy(indices)])

    def blocks(self, count: int | None = None, size: int = 256) -> Iterator[SayingBatch]:
        """The first images, or all, in order, so many at once."""
        last = len(self) if count is None else min(count, len(self))
        for start in range(0, last, size):
            yield self.batch(np.arange(start, min(start + size, last)))

    def resident(self, device: torch.device) -> "ResidentSayings":
        """The same examples on a device."""
        return ResidentSayings(self, device)


class ResidentSayings:
    """The same examples kept whole on one device, pictures as uint8: a batch is one gather."""

    def __init__(self, sayings: Sayings, device: torch.device, block: int = 1024) -> None:
        n, dataset = len(sayings), sayings.dataset
        shape = dataset.images([0]).shape[1:]
        self.images = torch.empty((n, *shape), dtype=torch.uint8, device=device)
        for start in range(0, n, block):
            stop = min(start + block, n)
            self.images[start:stop] = torch.from_numpy(dataset.images(range(start, stop)))
        self.texts = sayings.texts.to(device)

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, indices: Int[np.ndarray, " b"]) -> SayingBatch:
        """The images at these places, gathered on the device."""
        places = torch.from_numpy(indices).to(self.images.device)
        return SayingBatch(self.images[places].permute(0, 3, 1, 2), self.texts[places])


def words_of(train: Dataset) -> Words:
    """The words of a training split: kind by kind where a world has a fixed list, else by frequency."""
    from polymodal.data.drawn.scenes.scene_captions import (
        WORDS,  # which compiles the worlds' tracer
    )
    from polymodal.data.drawn.scenes.scene_split import Split

    if isinstance(train, Split) and train.world.name in WORDS:
        length = len(spoken(train.captions(0)[0].text))
        return Words(words=(BLANK, *WORDS[train.world.name]), length=length, shortest=length)
    return Words.of(text for own in captions_of(train) for text in own)


def texts_of(dataset: Dataset) -> Sequence[Sequence[str]]:
    """All texts of each image, without touching a pixel: for two-objects the four that are true of
    it, else its captions."""
    from polymodal.data.drawn.scenes.scene_captions import all_nine_words
    from polymodal.data.drawn.scenes.scene_split import Split

    if isinstance(dataset, Split) and dataset.world.name == "two-objects":
        return [all_nine_words(dataset.source.layout(i)) for i in range(len(dataset))]
    return captions_of(dataset)


def numbered(texts: Sequence[Sequence[str]], words: Words) -> Int64[Tensor, "n k t"]:
    """The texts of each image as numbers; an image with fewer than others has its own repeated.

    >>> numbered([["red", "blue"], ["blue red"]], Words.of(["blue red"])).tolist()
    [[[2, 0], [1, 0]], [[1, 2], [1, 2]]]
    """
    most = max(len(own) for own in texts)
    # each text is read once: 100,000 images of two-objects share 36,864
    rows = {text: row for row, text in enumerate(dict.fromkeys(t for own in texts for t in own))}
    places = [[rows[own[k % len(own)]] for k in range(most)] for own in texts]
    return words.encode(list(rows))[torch.tensor(places)]


def check_pictures(dataset: Dataset, size: int) -> None:
    """Refuse pictures of another size than a model was trained on."""
    high, wide = dataset.images([0]).shape[1:3]
    if (high, wide) != (size, size):
        raise PolymodalError(
            f"The pictures of these data are {wide}×{high}, but the model was trained on {size}×{size}. "
            f"Give the data with that size: folder:PATH,size={size} or two-objects,size={size}."
        )


def check_texts(splits: Mapping[str, Dataset], words: Words) -> None:
    """Refuse texts of any split that the words of the training texts cannot say."""
    for name, dataset in splits.items():
        try:
            numbered(texts_of(dataset), words)
        except PolymodalError as error:
            raise PolymodalError(
                f"In the split {name!r}: {error} A model knows the words of its training texts alone, and "
                "none longer than their longest: leave that record out, or learn from one like it."
            ) from error


def shuffled(
    texts: Int[Tensor, "*batch t"], generator: torch.Generator | None = None
) -> Int[Tensor, "*batch t"]:
    """Each text with its words and blanks in an order of its own, all as likely (004, §5.2)."""
    order = torch.rand(texts.shape, generator=generator, device=texts.device).argsort(-1)
    return texts.gather(-1, order)
