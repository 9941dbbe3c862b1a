"""What the systems share that learn to see the objects of real pictures."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor

from polymodal.base.progress import say
from polymodal.data.layout_examples import LayoutBatch, LayoutExamples
from polymodal.data.records import Dataset
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.learning_rates import adam
from polymodal.systems.layout.layout_settings import examples_of
from polymodal.training.system import System

LEFT_OUT = (
    "Images still show objects that are left out: --fewest, --most and --least-area say which are."
)
"""What to know of objects that are in no layout."""


class LayoutLearner(System):
    """Its config, the classes, and the layouts of each split, which are read once."""

    def __init__(self, config: Any, learned: dict[str, Any]) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        self.known: list[tuple[Dataset, LayoutExamples]] = []

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse held-out splits with classes that the training split does not have."""
        for split in splits.values():
            self.examples(split)

    def examples(self, dataset: Dataset) -> LayoutExamples:
        for known, examples in self.known:
            if known is dataset:
                return examples
        examples = examples_of(self.config, self.learned, dataset)
        if any(examples.chosen.left_out.values()):
            hint = "" if self.known else f" {LEFT_OUT}"
            say(f"Of {len(dataset):,} images: {examples.chosen}.{hint}")
        self.known.append((dataset, examples))
        return examples

    def batches(self, dataset: Dataset, count: int | None, size: int) -> Iterator[LayoutBatch]:
        """The first examples of a split, or all, on the device."""
        for batch in self.examples(dataset).blocks(count, size):
            yield batch.to(self.device)

    def configure_optimizers(self) -> Any:
        return adam(self.parameters(), self.config.lr, falls_over=self.clock.last)


def half_mirrored(
    pictures: Shaped[Tensor, "b 3 h w"], layouts: Layouts
) -> tuple[Shaped[Tensor, "b 3 h w"], Layouts]:
    """Pictures and their layouts, left and right exchanged in half of them by chance."""
    chosen = torch.rand(len(pictures), device=pictures.device) < 0.5
    turned = torch.where(chosen[:, None, None, None], pictures.flip(-1), pictures)
    return turned, layouts.mirrored(chosen)
