"""Regions of pictures by their description: boxes by finders, a vector of each by an encoder."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, UInt8

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable
from polymodal.base.progress import progress_bar
from polymodal.data.batch_order import ahead
from polymodal.data.encoder_vectors import as_kept, kept_type
from polymodal.data.proposals import RegionFeatures, joined, region_moments
from polymodal.data.records import Dataset, Images
from polymodal.nn.regions.finding import Found, Look
from polymodal.nn.regions.opening import open_encoder, open_finder

Regions = tuple[Float32[np.ndarray, "b r 4"], Float32[np.ndarray, "b r d"]]


@dataclass(frozen=True)
class Ready:
    """Pictures whose boxes are found and whose crops are cut: what remains is the network."""

    boxes: list[Float32[np.ndarray, "_ 4"]]
    beside: list[Float32[np.ndarray, "_ e"]]
    """What is known of each box besides what the encoder says of it."""
    prepared: Any


class Proposer:
    """Makes the regions of pictures by a description."""

    def __init__(self, description: Mapping[str, Any], device: torch.device) -> None:
        self.finders = [open_finder(told, device) for told in description["finders"]]
        self.encoder = open_encoder(description["encoder"], device)
        self.geometry: bool = description["geometry"]
        self.count = sum(finder.count for finder in self.finders)

    def prepare(self, look: Look) -> Ready:
        """The part that the processor does."""
        found = [merged(parts) for parts in zip(*(f.find(look) for f in self.finders), strict=True)]
        return self.cut(look.pictures, found)

    def cut(self, pictures: Images, found: Sequence[Found]) -> Ready:
        """The same for boxes that are known."""
        boxes = [one.boxes for one in found]
        beside = [one.extra for one in found]
        if self.geometry:
            _, height, width, _ = pictures.shape
            shapes = [geometry(some, width, height) for some in boxes]
            beside = [np.concatenate(pair, 1) for pair in zip(shapes, beside, strict=True)]
        return Ready(boxes, beside, self.encoder.prepare(pictures, boxes))

    def finish(self, ready: Ready) -> Regions:
        """The part that the device does."""
        counts, vectors = [len(some) for some in ready.boxes], self.vectors(ready)
        features = np.zeros((len(counts), self.count, vectors.shape[1]), np.float32)
        boxes = np.zeros((len(counts), self.count, 4), np.float32)
        rows = np.arange(self.count) < np.array(counts)[:, None]
        features[rows], boxes[rows] = vectors, np.concatenate(ready.boxes)
        return boxes, features

    def vectors(self, ready: Ready) -> Float32[np.ndarray, "m d"]:
        """A vector of each box, picture after picture."""
        vectors = self.encoder.encode(ready.prepared)
        vectors = np.concatenate([vectors, np.concatenate(ready.beside)], 1)
        if not vectors.shape[1]:
            raise PolymodalError(
                "These regions have no features: the finder gave boxes alone. Choose an encoder, such as "
                "pixels, or add the geometry."
            )
        return vectors


def merged(parts: Sequence[Found]) -> Found:
    """The boxes of several finders one after another; each has zeros where others know more."""
    widths = [part.extra.shape[1] for part in parts]
    extra = np.zeros((sum(len(part.boxes) for part in parts), sum(widths)), np.float32)
    row = column = 0
    for part, width in zip(parts, widths, strict=True):
        extra[row : row + len(part.boxes), column : column + width] = part.extra
        row, column = row + len(part.boxes), column + width
    return Found(np.concatenate([part.boxes for part in parts]), extra)


def geometry(
    boxes: Float32[np.ndarray, "k 4"], width: int, height: int
) -> Float32[np.ndarray, "k 5"]:
    """Centre, sides and area of boxes, in those of the picture."""
    within = boxes / np.array([width, height, width, height], np.float32)
    sides = within[:, 2:] - within[:, :2]
    return np.concatenate([(within[:, :2] + within[:, 2:]) / 2, sides, sides.prod(1)[:, None]], 1)


@lru_cache(maxsize=2)
def _proposer(told: str, device: str) -> Proposer:
    return Proposer(json.loads(told), usable(device))


def proposer(description: Mapping[str, Any], device: str = "cpu") -> Proposer:
    """What makes regions by a description; the networks of the latest two are kept."""
    return _proposer(json.dumps(description, sort_keys=True), device)


def propose(pictures: Images, description: Mapping[str, Any], device: str = "cpu") -> Regions:
    """Boxes and features of new pictures, made as those of a dataset were.

    Args:
        pictures: uint8 b h w 3.
        description: `encoder` of a dataset's column 'proposal_features', or of `describe`.
        device: where networks run.
    """
    made = proposer(description, device)
    return made.finish(made.prepare(Look(pictures)))


def encode_boxes(
    picture: UInt8[np.ndarray, "h w 3"],
    boxes: Float32[np.ndarray, "r 4"],
    description: Mapping[str, Any],
    device: str = "cpu",
) -> Float32[np.ndarray, "r d"]:
    """Features of boxes that somebody gives, without what a finder would know of them besides."""
    made = proposer(description, device)
    return made.vectors(made.cut(picture[None], [Found.of(boxes)]))


def regions_of(
    dataset: Dataset, rows: Sequence[int], made: Proposer, batch_size: int
) -> Iterator[Regions]:
    """Boxes and features of some images, by the batch; boxes of the next are found meanwhile."""

    def prepared() -> Iterator[Ready]:
        for start in range(0, len(rows), batch_size):
            some = rows[start : start + batch_size]
            yield made.prepare(Look(dataset.images(some), dataset, some))

    for ready in ahead(prepared()):
        yield made.finish(ready)


def with_proposals(
    dataset: Dataset,
    description: Mapping[str, Any],
    *,
    statistics: Float32[np.ndarray, "2 d"] | None = None,
    dtype: str = "float16",
    device: str = "cpu",
    batch_size: int = 32,
    progress: bool = True,
) -> Dataset:
    """The same dataset with its regions, computed now and kept in memory.

    Args:
        dataset: a split.
        description: how, from `describe`.
        statistics: mean and deviation of the training split; by default of this one, as if it were
            that.
        dtype: float16 or float32.
        device: where networks run.
        batch_size: pictures at once.
        progress: show a bar.
    """
    kind, made = kept_type(dtype), proposer(description, device)
    boxes: list[np.ndarray] = []
    features: list[np.ndarray] = []
    with progress_bar("Finding regions", len(dataset), shown=progress) as advance:
        for some, vectors in regions_of(dataset, range(len(dataset)), made, batch_size):
            images = range(sum(len(b) for b in boxes), len(dataset))
            boxes.append(some)
            features.append(as_kept(vectors, kind, images, "these data"))
            advance(len(some))
    places, values = np.concatenate(boxes), np.concatenate(features)
    moments = region_moments(places, values) if statistics is None else statistics
    return joined(dataset, places, RegionFeatures(values, encoder=description, statistics=moments))
