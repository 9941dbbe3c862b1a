"""Parts of images and of what is said of them: objects where the truth is known, else halves and middles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset, Record, Region

Picture = UInt8[np.ndarray, "_ _ 3"]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of the image's sides."""
Corners = tuple[float | int, ...]
"""The same in pixels."""

PARTS = 3
"""Crops an image (001, §3.4)."""
LARGEST = 0.2
"""The largest share of the image that a crop covers (001, §3.4)."""
CLEAR = 0.5
"""The least share of an object that must be seen for it to be spoken of."""
MOST = 1000
"""Images of the test split that are asked about, from the first on: one fold."""
MIDDLE: Box = (0.275, 0.275, 0.725, 0.725)
"""The middle fifth of an image, by area."""


@dataclass(frozen=True)
class Part:
    """An image and a text about it, and a part of each that belong together."""

    image: Picture
    crop: Picture
    text: str
    phrase: str


def queried_images(dataset: Dataset) -> range:
    """The images of a split that are asked about."""
    return range(min(len(dataset), MOST))


def cut(image: Picture, box: Box) -> Picture:
    """A box of an image, of at least one pixel."""
    h, w = image.shape[:2]
    left, top = int(box[0] * w), int(box[1] * h)
    return image[top : max(top + 1, round(box[3] * h)), left : max(left + 1, round(box[2] * w))]


def around(box: Corners, size: int) -> Box:
    """The least square within the image around all that is seen of an object."""
    x0, y0, x1, y1 = (round(edge) for edge in box)
    side = min(size, max(x1 - x0, y1 - y0))
    left = min(max(0, (x0 + x1 - side) // 2), size - side)
    top = min(max(0, (y0 + y1 - side) // 2), size - side)
    return left / size, top / size, (left + side) / size, (top + side) / size


def area(box: Box) -> float:
    """The share of the image that a box covers."""
    return (box[2] - box[0]) * (box[3] - box[1])


def name_of(region: Region) -> str:
    """How an object is spoken of.

    >>> name_of(Region("cube", attributes={"size": "small", "colour": "red", "shape": "cube"}))
    'a small red cube'
    """
    return f"a {region.name}"


def object_parts(record: Record) -> list[Part]:
    """The three largest objects that are seen well and cover a fifth of the image at most, each beside
    the whole, whose text is their three names in a row (001, §3.4); none where there are fewer."""
    if record.regions is None:
        raise PolymodalError("Objects and their boxes are known of drawn worlds alone.")
    size = len(record.image)
    clear = [one for one in record.regions if one.attributes.get("visible", 1.0) >= CLEAR]
    boxes = [(around(one.box, size), one) for one in clear if one.box]
    fitting = sorted((b for b in boxes if area(b[0]) <= LARGEST), key=lambda b: -area(b[0]))[:PARTS]
    if len(fitting) < PARTS:
        return []
    whole = ", ".join(name_of(one) for _, one in fitting)
    return [Part(record.image, cut(record.image, box), whole, name_of(one)) for box, one in fitting]


def truncated(text: str) -> str:
    """The first half of a caption's words.

    >>> truncated("A man with a red helmet on a small moped on a dirt road.")
    'A man with a red helmet on'
    """
    words = text.split()
    return " ".join(words[: (len(words) + 1) // 2])


def text_pairs(dataset: Dataset) -> list[tuple[str, str]]:
    """Captions and their truncations: to an object's name where they list whole scenes."""
    pairs = []
    for i in queried_images(dataset):
        record = None
        for caption in dataset.captions(i):
            if not caption.phrases:
                pairs.append((caption.text, truncated(caption.text)))
            elif caption.extent == "whole":
                record = record or dataset[i]
                pairs += [(caption.text, name_of(one)) for one in (record.regions or ())[:1]]
    return pairs


def image_pairs(dataset: Dataset) -> list[tuple[Picture, Picture]]:
    """Images and their crops: an object each where it is known, else the middle."""
    pairs = []
    for i in queried_images(dataset):
        record = dataset[i]
        if record.regions is None:
            pairs.append((record.image, cut(record.image, MIDDLE)))
        else:
            pairs += [(part.image, part.crop) for part in object_parts(record)[:1]]
    return pairs


@dataclass(frozen=True)
class Example:
    """An image of 001's Table 3: the caption of the whole, and crops with their truncations."""

    name: str
    id: str
    text: str
    parts: Mapping[str, tuple[str, Box]]


EXAMPLES = (
    Example(
        "moped",
        "391895",
        "A man with a red helmet on a small moped on a dirt road.",
        {"helmet": ("A man with a red helmet.", (0.47, 0.04, 0.80, 0.44))},
    ),
    Example(
        "yard",
        "341393",
        "A swimming pool in a yard that has a cinderblock wall all the way around it and a dog "
        "sitting at the edge of the pool.",
        {
            "pool": ("A swimming pool.", (0.0, 0.48, 0.46, 1.0)),
            "wall": ("A cinderblock wall.", (0.0, 0.08, 0.42, 0.42)),
            "dog": ("A dog sitting.", (0.50, 0.53, 1.0, 1.0)),
        },
    ),
)
"""The paper's own examples, by their COCO ids; it does not give its crops, so these boxes are ours."""


def picture_of(id: str, splits: Mapping[str, Dataset]) -> Picture | None:
    """The image of this id in whichever split has it."""
    for dataset in splits.values():
        if id in dataset.ids:
            return dataset[dataset.ids.index(id)].image
    return None
