"""Images with all that is truly said of each, by the batch: one training example an image.

Which of its texts is learned from is drawn at every step, on the device, by whoever trains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int, Int64, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import Batch, ColumnExamples, Held, field_of
from polymodal.data.features import pictures_alone
from polymodal.data.fixed_words import BLANK, Words, spoken
from polymodal.data.pairs import captions_of, captions_of_each
from polymodal.data.records import Dataset


@dataclass(frozen=True)
class ImageTextBatch(Batch):
    """b images and the numbers of the words of all k texts of each."""

    images: UInt8[Tensor, "b 3 h w"]
    texts: Int64[Tensor, "b k t"]


class ImageTexts(ColumnExamples):
    """All images of a split with their texts."""

    kind: type[ImageTextBatch] = ImageTextBatch

    def __init__(self, dataset: Dataset, words: Words) -> None:
        pictures = field_of(pictures_alone(dataset), "image", "Learning from pictures")
        self.texts = numbered(texts_of(dataset), words)
        super().__init__(dataset, {"images": pictures, "texts": Held(self.texts)})


def words_of(train: Dataset) -> Words:
    """The words of a training split: kind by kind where a world has a fixed list, else by frequency."""
    if "true_texts" in train.columns:
        column = train.column("true_texts")
        length = len(spoken(column[0][0]))
        return Words(words=(BLANK, *column.words), length=length, shortest=length)
    return Words.of(text for texts in captions_of(train) for text in texts)


def texts_of(dataset: Dataset) -> Sequence[Sequence[str]]:
    """All texts of each image, without touching a pixel: those of a fixed list of words that are true
    of it, as of two-objects four are, else its captions."""
    if "true_texts" in dataset.columns:
        return list(dataset.column("true_texts"))
    return captions_of_each(dataset)


def numbered(texts: Sequence[Sequence[str]], words: Words) -> Int64[Tensor, "n k t"]:
    """The texts of each image as numbers; an image with fewer than others has its own repeated.

    >>> numbered([["red", "blue"], ["blue red"]], Words.of(["blue red"])).tolist()
    [[[2, 0], [1, 0]], [[1, 2], [1, 2]]]
    """
    most = max(len(image_texts) for image_texts in texts)
    # each text is read once: 100,000 images of two-objects share 36,864
    rows = {
        text: row
        for row, text in enumerate(dict.fromkeys(t for image_texts in texts for t in image_texts))
    }
    places = [
        [rows[image_texts[k % len(image_texts)]] for k in range(most)] for image_texts in texts
    ]
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
