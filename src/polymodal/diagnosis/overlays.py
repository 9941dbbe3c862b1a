"""Heatmaps over pictures: where one image has what another's global feature says (003, Fig. 4.4)."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from polymodal.data.classes import in_words
from polymodal.data.records import Images
from polymodal.diagnosis.encoders import Encoder
from polymodal.diagnosis.examination import Examination
from polymodal.diagnosis.pointwise import normalised, score_maps

ROWS, TARGETS = 4, 3
"""Images whose global features are asked about, and images that each is compared with."""


@dataclass(frozen=True, kw_only=True)
class HeatmapRow:
    """An image whose global feature is asked about, and others, each under its scores and these alone."""

    images: Images
    captions: tuple[str, ...]


def heatmap_rows(examination: Examination) -> list[HeatmapRow]:
    """Rows of one image, and of others of its class and of other classes, under their scores."""
    pairs = shown_pairs(examination.test.labels)
    scores = score_maps(examination.statistics, examination.asked, pairs).cpu()
    lowest, highest = scores.min(), scores.max()
    alone = ((scores - lowest) / (highest - lowest).clamp_min(1e-12)).numpy()
    over = normalised(scores, "range").numpy()
    rows = []
    for start in range(0, len(pairs), TARGETS):
        block = range(start, min(start + TARGETS, len(pairs)))
        source, targets = int(pairs[start, 0]), pairs[list(block), 1].tolist()
        pictures = middles(examination, [source, *targets])
        tiles, captions = [pictures[0]], [name(examination, source)]
        for picture, target, pair in zip(pictures[1:], targets, block, strict=True):
            above, below = (
                coloured(spread(maps[pair], examination.encoder, len(picture)))
                for maps in (over, alone)
            )
            tiles += [(0.45 * picture + 0.55 * above).astype(np.uint8), below]
            captions += [name(examination, target), f"{scores[pair].mean():.1f} nats in the mean"]
        rows.append(HeatmapRow(images=np.stack(tiles), captions=tuple(captions)))
    return rows


def shown_pairs(labels: Int[Tensor, " n"]) -> Int[Tensor, "k 2"]:
    """Pairs to show: images of classes spread evenly, each with another of its class, where there is one,
    and with images of other classes."""
    classes = labels.unique()
    chosen = classes[torch.linspace(0, len(classes) - 1, min(ROWS, len(classes))).round().long()]
    members = [(labels == label).nonzero().flatten().tolist() for label in classes.tolist()]
    rows = []
    for label in chosen.tolist():
        place = int((classes == label).nonzero())
        source, *others = members[place]
        # of its own class first, then of the classes that follow, farther and farther
        strangers = [
            members[(place + step) % len(members)][0]
            for step in itertools.accumulate(range(1, TARGETS + 1))
            if step % len(members)
        ]
        rows += [[source, target] for target in [*others[:1], *strangers][:TARGETS]]
    return torch.tensor(rows)


def middles(examination: Examination, images: list[int]) -> UInt8[np.ndarray, "b size size 3"]:
    """What is encoded of some pictures."""
    encoder = examination.encoder
    pictures = examination.test.pictures(np.array(images)).permute(0, 2, 3, 1).numpy()
    side = round(pictures.shape[1] * encoder.crop)
    top = (pictures.shape[1] - side) // 2
    return pictures[:, top : top + side, top : top + side]


def spread(
    heat: Float[np.ndarray, "side side"], encoder: Encoder, size: int
) -> Float[np.ndarray, "size size"]:
    """A map over a picture of some pixels a side, linear between the middles of what its places see."""
    places, window = len(heat), encoder.window
    pixels = (np.arange(size) + 0.5) * encoder.size / size  # of what is encoded
    at = (pixels - window.start - window.size / 2) / window.step
    weights = np.maximum(0, 1 - np.abs(at.clip(0, places - 1)[:, None] - np.arange(places)))
    spread_map: np.ndarray = weights @ heat @ weights.T
    return spread_map


def coloured(heat: Float[np.ndarray, "h h"]) -> UInt8[np.ndarray, "h h 3"]:
    """Numbers from 0 to 1 as colours, yellow the highest."""
    from matplotlib import colormaps

    return (255 * colormaps["viridis"](heat)[..., :3]).round().astype(np.uint8)


def name(examination: Examination, image: int) -> str:
    """The class of an image, in words, or its number."""
    if examination.test.classed is None:
        return f"image {image}"
    return in_words(examination.test.classed.classes[int(examination.test.labels[image])])
