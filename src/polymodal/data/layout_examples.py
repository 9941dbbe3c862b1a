"""Pictures with their layouts, by the batch: what a generator from layouts learns from."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32, Int64, UInt8
from torch import Tensor

from polymodal.data.batches import Batch, ColumnExamples, Field, Held, field_of
from polymodal.data.layouts import LayoutRules, layouts_of
from polymodal.data.records import Dataset


@dataclass(frozen=True)
class LayoutBatch(Batch):
    """b pictures, and the box and class of each of their objects; boxes in sides of the picture."""

    image: UInt8[Tensor, "b 3 h w"]
    boxes: Float32[Tensor, "b o 4"]
    classes: Int64[Tensor, "b o"]
    there: Bool[Tensor, "b o"]


class LayoutExamples(ColumnExamples):
    """The items of a split whose layouts the rules keep; `dataset` has these alone."""

    kind = LayoutBatch

    def __init__(
        self, dataset: Dataset, classes: Sequence[str], rules: LayoutRules | None = None
    ) -> None:
        self.chosen = layouts_of(dataset, classes, rules)
        if len(self.chosen.items) < len(dataset):
            dataset = dataset.take(self.chosen.items.tolist())
        rows = self.chosen.rows
        fields: dict[str, Field] = {
            "image": field_of(dataset, "image", "A picture from a layout"),
            "boxes": Held(torch.from_numpy(rows.boxes)),
            "classes": Held(torch.from_numpy(rows.classes)),
            "there": Held(torch.from_numpy(rows.there)),
        }
        super().__init__(dataset, fields)
