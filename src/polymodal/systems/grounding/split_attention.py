"""A split in blocks of images: what its words attend to, and how much they tell of its images."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.data.caption_tokens import CaptionTokens, read_captions
from polymodal.data.pairs import captions_of, owners
from polymodal.data.records import Dataset
from polymodal.nn.word_region_attention import Regions
from polymodal.systems.grounding.phrases import Phrases, phrases_of
from polymodal.systems.grounding.region_columns import known_regions

BLOCK = 50
"""Images among which words tell their own, when the bound is measured: the paper's batch."""


@dataclass(frozen=True)
class Prepared:
    """A split with the regions of its images, the tokens of its captions, and its phrases if known."""

    dataset: Dataset
    captions: CaptionTokens
    owner: Int[Tensor, " n"]
    """The image of each caption."""
    phrases: Phrases | None

    def blocks(self) -> Iterator[tuple[range, slice]]:
        """Images, `BLOCK` at a time, and their captions."""
        count = len(self.dataset)
        firsts = torch.searchsorted(self.owner, torch.arange(count + 1)).tolist()
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            yield range(start, stop), slice(firsts[start], firsts[stop])

    def batch(self, name: str, images: range) -> Tensor:
        """A column of some images."""
        return torch.from_numpy(self.dataset.column(name, "Grounding").batch(images)).float()

    def proposals(self) -> Float[Tensor, "n r 4"]:
        """The proposals of all images."""
        return self.batch("proposals", range(len(self.dataset)))


def prepare(dataset: Dataset, learned: dict[str, Any]) -> Prepared:
    """What a model that learned so must know of a split."""
    texts = captions_of(dataset)
    captions = read_captions([text for own in texts for text in own], learned["words"])
    known = "regions" in dataset.columns
    return Prepared(
        known_regions(dataset, learned),
        captions,
        owners(texts),
        phrases_of(dataset, captions) if known else None,
    )


def of_owners(regions: Regions, owner: Int[Tensor, " c"]) -> Regions:
    """The regions of the image of each caption."""
    return Regions(regions.key[owner], regions.value[owner], regions.there[owner])


def mean_bound(losses: list[Float[Tensor, " n"]], images: int) -> float:
    """log k − the mean L_img over words, a lower bound of their mean MI with images (002, eq. 2, 5)."""
    return math.log(images) - torch.cat(losses).mean().item()
