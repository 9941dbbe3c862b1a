"""Training examples of grounding: a caption, the regions of its image, and substitutes for its nouns."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.data.batches import Batch, ColumnExamples, Field, Held, field_of
from polymodal.data.caption_tokens import CaptionTokens
from polymodal.data.pairs import Owned, Padded
from polymodal.data.records import Dataset
from polymodal.systems.grounding.negatives import Negatives


@dataclass(frozen=True)
class GroundingBatch(Batch):
    """b captions with the regions of their images."""

    tokens: Int[Tensor, "b t"]
    lengths: Int[Tensor, " b"]
    kinds: Int[Tensor, "b t"]
    """1 for a noun, 2 for an adjective, 0 for any other token."""
    owner: Int[Tensor, " b"]
    """The image of each caption."""
    features: Float[Tensor, "b r f"]
    boxes: Float[Tensor, "b r 4"]
    """Those of area 0 are padding."""
    places: Int[Tensor, "b m"]
    """Tokens that have substitutes; −1 for none."""
    substitutes: Int[Tensor, "b m k"]
    """Tokens that could stand there and would be false; −1 for none."""


class GroundingExamples(ColumnExamples):
    """All captions of a split with their images' regions."""

    kind = GroundingBatch

    def __init__(
        self,
        dataset: Dataset,
        captions: CaptionTokens,
        owner: Int[Tensor, " n"],
        negatives: Negatives | None,
    ) -> None:
        rows, lengths = owner.numpy(), captions.lengths.numpy()
        none = torch.empty(len(owner), 0, dtype=torch.long)
        fields: dict[str, Field] = {
            "tokens": Padded(captions.tokens, lengths),
            "lengths": Held(captions.lengths),
            "kinds": Padded(captions.kinds, lengths),
            "owner": Held(owner),
            "features": Owned(field_of(dataset, "proposal_features", "Grounding"), rows),
            "boxes": Owned(field_of(dataset, "proposals", "Grounding"), rows),
            "places": Held(negatives.places if negatives else none),
            "substitutes": Held(negatives.tokens if negatives else none[..., None]),
        }
        super().__init__(dataset, fields)
        self.count = len(owner)

    def __len__(self) -> int:
        return self.count
