"""Pictures of two coloured shapes whose regions' features say what is in them."""

import numpy as np
import pytest

from polymodal.data import Dataset
from polymodal.data.columns import Each, Stored
from polymodal.data.proposals import RegionFeatures, joined, region_moments
from polymodal.data.records import Caption, Phrase, Region

COLOURS, SHAPES = ("red", "green", "blue", "yellow"), ("cube", "ball", "cone")
REGIONS = 5


def shapes(count: int, seed: int) -> Dataset:
    """Each picture has two objects of different colour and shape, and two regions with nothing in them."""
    rng = np.random.default_rng(seed)
    boxes = np.zeros((count, REGIONS, 4), np.float32)
    features = 0.1 * rng.normal(size=(count, REGIONS, 7)).astype(np.float32)
    captions, regions = [], []
    for image in range(count):
        colours, kinds = (rng.permutation(range(n))[:2] for n in (4, 3))
        places = rng.permutation(4)  # the fifth row of regions is padding
        own = [(10.0 * p, 0.0, 10.0 * p + 8, 8.0) for p in places]
        for box, place in zip(own, range(4), strict=True):
            boxes[image, place] = box
        names = [f"{COLOURS[c]} {SHAPES[k]}" for c, k in zip(colours, kinds, strict=True)]
        for place, c, k in zip((0, 1), colours, kinds, strict=True):
            features[image, place, [c, 4 + k]] += 1
        order = rng.permutation(4)
        boxes[image, :4], features[image, :4] = boxes[image, order], features[image, order]
        regions.append(tuple(Region(n.split()[1], b) for n, b in zip(names, own, strict=False)))
        captions.append(tuple(written(name, k) for k, name in enumerate(names)))
    features[:, 4] = 0
    columns = {
        "image": Stored(np.zeros((count, 8, 8, 3), np.uint8)),
        "captions": Each.of(captions),
        "regions": Each.of(regions),
    }
    kept = RegionFeatures(features, encoder={"toy": 1}, statistics=region_moments(boxes, features))
    return joined(Dataset(columns, ids=[f"{seed}-{i}" for i in range(count)]), boxes, kept)


def written(name: str, region: int) -> Caption:
    """'there is a red cube', with its phrase."""
    start = len("there is ")
    text = f"there is a {name}"
    return Caption(text, phrases=(Phrase(start, len(text), (region,)),))


@pytest.fixture(scope="session")
def train() -> Dataset:
    return shapes(120, 0)


@pytest.fixture(scope="session")
def val() -> Dataset:
    return shapes(60, 1)
