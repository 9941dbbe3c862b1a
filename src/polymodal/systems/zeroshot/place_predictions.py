"""Classes from local features alone: each position of the last maps, without the final layer (003,
A.5).

Either the features of all positions are averaged and then classified, or each position is
classified and the predictions are averaged. The maps are those after the last pooling or before
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import classed
from polymodal.data.records import Dataset
from polymodal.metrics.class_accuracy import top1
from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.prototypes import Fitting, Prototypes, cosines, fitted

Maps = Literal["last", "unpooled"]
"""The maps that are flattened, or the same before pooling."""

MAPS: dict[str, Maps] = {"pool": "last", "no_pool": "unpooled"}


@dataclass(frozen=True)
class Places:
    """The features of n images at p positions each, and their classes."""

    features: Float[Tensor, "n d p"]
    labels: Int[Tensor, " n"]

    def rows(self) -> Float[Tensor, "np d"]:
        """Each position as a feature of its own, image by image."""
        return self.features.transpose(1, 2).flatten(0, 1)


def local_scores(system: Learner, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """Accuracy on the classes of `test` for each combination of positions (003, Table A.3)."""
    train, test = learned_from(system, splits), splits["test"]
    results = {"zsl_top1": system.evaluate(test)["zsl_top1"]}
    for name, which in MAPS.items():
        learned, tested = (places_of(system, split, which) for split in (train, test))
        here = torch.zeros_like(system.known)
        here[tested.labels] = True
        scores = {
            "representations": by_mean(system, learned, tested),
            "predictions": by_place(system, learned, tested, here),
        }
        for way, values in scores.items():
            results[f"{way}_{name}"] = top1(values, tested.labels, here)
    return results


def by_mean(system: Learner, learned: Places, tested: Places) -> Float[Tensor, "m c"]:
    """Class scores from the mean of an image's features over positions: "average before"."""
    net = net_for(system, learned.features.mean(2), learned.labels)
    return cosines(tested.features.mean(2), net(system.attributes))


def by_place(
    system: Learner, learned: Places, tested: Places, among: Bool[Tensor, " c"]
) -> Float[Tensor, "m c"]:
    """The mean over positions of the probability of each candidate class: "average after"."""
    each = learned.features.shape[2]
    net = net_for(system, learned.rows(), learned.labels.repeat_interleave(each))
    scores = Fitting().scale * cosines(tested.rows(), net(system.attributes))
    chances = scores.masked_fill(~among, -torch.inf).softmax(1)
    return chances.unflatten(0, (-1, each)).mean(1)


def net_for(
    system: Learner, features: Float[Tensor, "n d"], labels: Int[Tensor, " n"]
) -> Prototypes:
    """Prototypes for some features, fitted as those for the global features."""
    how = Fitting(steps=system.config.fit_steps, lr=system.config.fit_lr)
    return fitted(features, labels, system.attributes, how)


@torch.no_grad()
def places_of(system: Learner, dataset: Dataset, which: Maps) -> Places:
    """The features at every position of all images of a split."""
    system.eval()
    blocks = [
        getattr(system.see(block.images.to(system.device)), which).float().flatten(2)
        for block in system.examples(dataset).blocks()
    ]
    labels = torch.from_numpy(classed(dataset).labels).to(system.device)
    return Places(torch.cat(blocks), labels)


def learned_from(system: Learner, splits: Mapping[str, Dataset]) -> Dataset:
    """The training split of a trained system, found by its hash."""
    for split in splits.values():
        if split.fingerprint == system.learned.get("train"):
            return split
    raise PolymodalError(
        "None of these splits is the training split of the model, which prototypes are fitted to; "
        f"found {', '.join(splits)}. Give the data that it was trained on."
    )
