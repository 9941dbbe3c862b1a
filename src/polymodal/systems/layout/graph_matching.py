"""The scene-graph similarity module as a retrieval model: its training and its recalls."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.metrics.recall import recall_at_k
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.scene_graph_similarity import PictureFeatures
from polymodal.systems.layout.layout_learner import LayoutLearner, half_mirrored
from polymodal.systems.layout.similarity_module import SGSM, Similarities
from polymodal.training.distributed import world
from polymodal.training.system import Scores

POOL = 100
"""Items among which the right one is searched, as in AttnGAN's R-precision."""

VALIDATED = 500
"""Items of a validation."""

WAYS = ("graphs", "pictures")
"""What is found: the graph of a picture, or the picture of a graph."""

BLOCK = 50
"""Pictures that are encoded at once."""


class GraphMatching(LayoutLearner):
    """Finds the scene graph of a picture, and the picture of a scene graph."""

    monitor = "r1"

    def __init__(self, config: Any, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.module = SGSM(learned["sgsm"], len(learned["classes"]))
        self.chance: float | None = None

    def training_step(self, batch: LayoutBatch, batch_idx: int) -> dict[str, Tensor]:
        pixels, layouts = batch.image.float(), Layouts.of(batch)
        if self.config.flips:
            pixels, layouts = half_mirrored(pixels, layouts)
        loss = self.module(pixels, layouts)
        self.chance = 4 * math.log(len(batch) * world())
        return {"loss": loss, "shown": loss.detach()}

    # Scores

    def validate(self, dataset: Dataset) -> Scores:
        """Recalls of the first items."""
        return self.recalls(dataset, VALIDATED)

    def evaluate(self, dataset: Dataset) -> Scores:
        """Recalls of all items."""
        return self.recalls(dataset, None)

    def recalls(self, dataset: Dataset, most: int | None) -> Scores:
        """R@1 and R@5 both ways among the items of a pool, by the sum of both similarities and R@1 by
        each alone, and what chance would give; `r1` is the mean of both ways."""
        pools = list(self.pools(dataset, most))
        scores = recalls_of([found.local + found.whole for found in pools])
        for name, alone in (("local", "local"), ("global", "whole")):
            scores[f"{name}_r1"] = recalls_of([getattr(found, alone) for found in pools])["r1"]
        items = sum(len(found.local) for found in pools)
        return scores | {
            "chance_r1": 100 * len(pools) / items,
            "pool": items / len(pools),
            "items": float(items),
        }

    @torch.no_grad()
    def pools(self, dataset: Dataset, most: int | None) -> Iterator[Similarities]:
        """The similarities within each pool; of the last items, which may be fewer, none."""
        self.eval()
        examples = self.examples(dataset)
        count = min(len(examples), most or len(examples))
        for batch in examples.blocks(count, min(POOL, count)):
            if len(batch) == min(POOL, count):
                yield self.similarities(batch.to(self.device))

    def similarities(self, batch: LayoutBatch) -> Similarities:
        """Of every picture of a batch with every layout of it."""
        layouts = Layouts.of(batch)
        parts = [self.module.pictures(some.float()) for some in batch.image.split(BLOCK)]
        each, whole = (
            torch.cat(rows) for rows in zip(*((p.each, p.whole) for p in parts), strict=True)
        )
        pictures = PictureFeatures(each, whole)
        return self.module.similarities(pictures, self.module.graph_features(layouts))

    def symptom(self, loss: float) -> str | None:
        if self.chance is None or loss < 0.995 * self.chance:
            return None
        return (
            f"The loss {loss:.2f} is that of guessing ({self.chance:.2f}): pictures and scene graphs are "
            "not told apart. Try a smaller --lr, or a larger --batch-size."
        )

    def protocol(self) -> dict[str, Any]:
        return {
            "pool": f"R@k among {POOL} items in the order of the split, or all where they are fewer"
        }


def recalls_of(pools: list[Float[Tensor, "_ _"]]) -> Scores:
    """R@1 and R@5 of graphs found by pictures and pictures found by graphs, and the mean R@1 of both."""
    ranks = [both_ways(similarity) for similarity in pools]
    by_way = {way: torch.cat([pair[k] for pair in ranks]) for k, way in enumerate(WAYS)}
    scores = {f"{way}_r{k}": recall_at_k(by_way[way], k) for way in WAYS for k in (1, 5)}
    return scores | {"r1": sum(scores[f"{way}_r1"] for way in WAYS) / len(WAYS)}


def both_ways(
    similarity: Float[Tensor, "n n"],
) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"]]:
    """The rank of each picture's graph, and of each graph's picture; ties count against it."""
    true = similarity.diagonal()
    others = ~torch.eye(len(similarity), dtype=torch.bool, device=similarity.device)
    by_picture = ((similarity >= true[:, None]) & others).sum(1)
    by_graph = ((similarity >= true[None, :]) & others).sum(0)
    return by_picture, by_graph
