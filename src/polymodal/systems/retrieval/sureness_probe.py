"""What a search claims and what is observed, in indexes of several sizes."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import torch
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.maths.similarity import joined
from polymodal.metrics.calibration import calibration_error, reliability
from polymodal.search import Index, Item, Items, build, calibrate
from polymodal.search.asking import similarity_of
from polymodal.search.calibrating import claims
from polymodal.search.items import Filter

SIZES = (500, 1000, 4407)
"""Images of the indexes; the last is all images of the subset of COCO."""

NAMES = ("small", "middle", "large", "filtered")
"""The indexes in the order of their sizes, and the largest with a filter."""

ENOUGH = 100
"""Queries of a bin whose gap counts."""

Claims = tuple[Tensor, Tensor]
"""The chances that are claimed of some answers, and which are right."""


class Part(NamedTuple):
    """An embedded split."""

    images: Any
    captions: Any
    owner: Tensor
    ids: list[str]

    def between(self, start: int, stop: int) -> "Part":
        """Only the captions of some of its images."""
        mine = (self.owner >= start) & (self.owner < stop)
        return self._replace(captions=self.captions[mine], owner=self.owner[mine])


@torch.no_grad()
def claimed_and_observed(
    system: Any, splits: Mapping[str, Dataset], sizes: Sequence[int] = SIZES
) -> dict[str, float]:
    """Test captions ask indexes of images that are calibrated on val, see `gaps`.

    An index holds test images; where they are too few, those of val and train too. Of a size that goes
    into the test split several times there are as many indexes. `filtered` is the large index with a
    filter that leaves as many images as the middle one has.
    """
    test, val = (embedded(system, name, splits[name]) for name in ("test", "val"))
    train = system.encode_dataset(splits["train"])
    images = joined([test.images, val.images, train])
    ids = [*test.ids, *val.ids, *numbered("train", train)]
    items = [Item(id=id) for id in ids]
    if sizes[-1] > len(items):
        raise PolymodalError(
            f"An index of {sizes[-1]} images is asked for, but test, val and train have {len(items)} "
            "together. Give larger data."
        )

    def index(start: int, stop: int) -> Index:
        some = Items.of(items[start:stop])
        return build(images[start:stop], some, side="image", measure=similarity_of(system))

    scores: dict[str, float] = {}
    for name, size in zip(NAMES, sizes, strict=False):
        starts = range(0, max(len(test.images) - size, 0) + 1, size)
        ends = [(start, start + size) for start in starts]
        claims = [claims_of(index(*part), val, test.between(*part)) for part in ends]
        scores |= gaps(name, size, claims)
    some = Filter({}, torch.arange(sizes[-2]))
    claims = [claims_of(index(0, sizes[-1]), val, test.between(0, sizes[-2]), some)]
    return scores | gaps("filtered", sizes[-2], claims)


def embedded(system: Any, name: str, split: Dataset) -> Part:
    """The embeddings of a split, and ids that no other split has."""
    images, captions, owner = system.embedded(split)
    return Part(images, captions, owner, numbered(name, split))


def numbered(name: str, split: Sized) -> list[str]:
    """Ids of the images of a split."""
    return [f"{name} {place}" for place in range(len(split))]


def claims_of(index: Index, val: Part, test: Part, only: Filter | None = None) -> Claims:
    """The claims of an index that is calibrated on one split and asked by another."""
    known = calibrate(index, *val[:3], split="validation", ids=val.ids)
    return claims(index, known, *test[:3], ids=test.ids, only=only)


def gaps(name: str, images: int, claims: Sequence[Claims]) -> dict[str, float]:
    """How many images are searched, and in percent: the mean claim and what is observed, the expected
    calibration error, the largest gap of a bin of a hundred queries or more, and both of each bin, with its
    queries."""
    claimed, right = map(torch.cat, zip(*claims, strict=True))
    bins = reliability(claimed, right)
    scores = {
        "images": float(images),
        "claimed": 100 * claimed.mean().item(),
        "observed": 100 * right.double().mean().item(),
        "ece": 100 * calibration_error(claimed, right),
        "gap": max((100 * part.gap for part in bins.values() if part.count >= ENOUGH), default=0.0),
    }
    for place, part in bins.items():
        scores[f"bin_{place}_claimed"] = 100 * part.claimed
        scores[f"bin_{place}_observed"] = 100 * part.observed
        scores[f"bin_{place}_queries"] = float(part.count)
    return {f"{name}_{key}": value for key, value in scores.items()}
