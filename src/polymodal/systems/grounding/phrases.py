"""The phrases of a split whose boxes are known, ready to be compared with proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.caption_tokens import CaptionTokens
from polymodal.data.phrase_counts import types_of
from polymodal.data.records import Dataset, Phrase


@dataclass(frozen=True)
class Phrases:
    """p phrases, each of a caption."""

    caption: Int[Tensor, " p"]
    """The caption of each, among all captions of the split."""
    tokens: Bool[Tensor, "p t"]
    """The tokens of its caption that it consists of."""
    boxes: Float[Tensor, "p g 4"]
    """Its true boxes; those of area 0 are padding."""
    types: tuple[tuple[str, ...], ...]
    """What kinds of thing each names."""

    def __len__(self) -> int:
        return len(self.types)


def phrases_of(dataset: Dataset, captions: CaptionTokens) -> Phrases:
    """All phrases of a split that have a box; captions number image by image."""
    found: list[tuple[int, Phrase, list[Any], tuple[str, ...]]] = []
    caption = 0
    column = dataset.column("regions", "Grounding")
    for image in range(len(dataset)):
        regions = column[image] or ()
        for said in dataset.captions(image):
            for phrase in said.phrases:
                named = [regions[k] for k in phrase.regions if regions[k].box]
                if named:
                    boxes = [region.box or () for region in named]
                    found.append((caption, phrase, boxes, tuple(types_of(phrase, regions))))
            caption += 1
    if not found:
        raise PolymodalError(
            "No caption of these data has a phrase with a box, so grounding cannot be scored on them. "
            "Give data whose boxes are known, such as scenes or flickr30k:PATH."
        )
    of = torch.tensor([caption for caption, *_ in found])
    return Phrases(
        caption=of,
        tokens=tokens_of(captions, of, [phrase for _, phrase, *_ in found]),
        boxes=padded([boxes for *_, boxes, _ in found]),
        types=tuple(types for *_, types in found),
    )


def tokens_of(
    captions: CaptionTokens, caption: Int[Tensor, " p"], phrases: Sequence[Phrase]
) -> Bool[Tensor, "p t"]:
    """Which tokens of its caption each phrase has a character of."""
    starts = torch.tensor([phrase.start for phrase in phrases])[:, None]
    ends = torch.tensor([phrase.end for phrase in phrases])[:, None]
    found = (captions.starts[caption] < ends) & (captions.ends[caption] > starts)
    return found & (captions.ends[caption] > 0)


def padded(boxes: Sequence[Sequence[Any]]) -> Float[Tensor, "p g 4"]:
    """Lists of boxes as one array, zeros after the last of each."""
    whole = torch.zeros(len(boxes), max(map(len, boxes)), 4)
    for row, own in zip(whole, boxes, strict=True):
        row[: len(own)] = torch.tensor(own)
    return whole
