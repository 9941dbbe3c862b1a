"""The finder `truth`: the true boxes of an image among others that hold no object."""

import hashlib

import numpy as np
import torch
from jaxtyping import Float32

from polymodal.base.errors import PolymodalError
from polymodal.maths.boxes import iou
from polymodal.nn.regions.finding import Found, Look

NEAR = 0.5
"""Intersection over union with a true box that no other box reaches."""

TRIES = 100
"""How often so many boxes are drawn as are asked for before it is given up."""


class Truth:
    """True boxes and distractors in an order that tells nothing, the same for an image whenever asked.

    Half of the distractors are boxes of any place and size, half are true boxes moved and resized.
    Where there are more true boxes than `count`, some of them are taken.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def find(self, look: Look) -> list[Found]:
        """The boxes of each picture."""
        dataset = look.source("truth")
        regions = dataset.column("regions", "The finder truth")
        sides = look.pictures.shape[2:0:-1]
        found = []
        for row in look.rows:
            boxes = [region.box for region in regions[row] or () if region.box is not None]
            true = np.array(boxes, np.float32).reshape(-1, 4)
            found.append(Found.of(among_others(true, self.count, sides, dataset.ids[row])))
        return found


def among_others(
    true: Float32[np.ndarray, "k 4"], count: int, sides: tuple[int, ...], name: str
) -> Float32[np.ndarray, "count 4"]:
    """True boxes and distractors, `count` together, shuffled; a function of the image's id and truth.

    Args:
        true: the true boxes.
        count: how many boxes there shall be.
        sides: width and height of the picture in pixels.
        name: the image's id.
    """
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
    random = np.random.Generator(np.random.Philox(key=key))
    whole = np.array_equal(true, true.round())
    others = np.zeros((0, 4), np.float32)
    for _ in range(TRIES):
        if len(true) + len(others) >= count:
            break
        drawn = distractors(random, true, count, np.array([*sides, *sides], np.float32))
        drawn = drawn.round() if whole else drawn  # whole pixels must not give truth away
        far = iou(torch.from_numpy(drawn), torch.from_numpy(true)).numpy() < NEAR
        large = (drawn[:, 2:] - drawn[:, :2] >= 1).all(1)
        others = np.concatenate([others, drawn[far.all(1) & large]])
    else:
        raise PolymodalError(
            f"Image {name}: of {count} boxes that are not the truth only {len(others)} could be placed "
            f"in a picture of {sides[0]}×{sides[1]}. Ask for fewer with --count."
        )
    return random.permutation(np.concatenate([random.permutation(true), others])[:count])


def distractors(
    random: np.random.Generator, true: np.ndarray, count: int, sides: np.ndarray
) -> Float32[np.ndarray, "count 4"]:
    """Boxes that may overlap the true ones, each within the picture."""
    size = np.exp(random.uniform(np.log(0.08), np.log(0.8), (count, 2))) * sides[:2]
    centre = random.uniform(size / 2, sides[:2] - size / 2)
    if len(true):
        moved = np.arange(count) % 2 == 1
        one = true[random.integers(len(true), size=count)]
        extent = one[:, 2:] - one[:, :2]
        beside = (one[:, :2] + one[:, 2:]) / 2 + random.uniform(-1, 1, (count, 2)) * extent
        scaled = extent * np.exp(random.uniform(-0.7, 0.7, (count, 2)))
        centre = np.where(moved[:, None], beside, centre)
        size = np.where(moved[:, None], scaled, size)
    boxes = np.concatenate([centre - size / 2, centre + size / 2], 1)
    return np.clip(boxes, 0, sides).astype(np.float32)
