"""What trained retrieval systems are asked beside recall: extent, entropy of parts, uncertainty.

Each probe takes a system and the splits of its data and gives named figures. Where the truth of the
images is known (the embedded worlds) a part is an object: its box and its phrase. Elsewhere it is
the first half of a caption's words and the middle of the image.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from polymodal.data.pairs import captions_of, owners
from polymodal.data.records import Dataset, Record, Thing
from polymodal.errors import PolymodalError
from polymodal.gaussian import DiagonalGaussian
from polymodal.metrics.extent import extent
from polymodal.metrics.uncertainty import (
    error_auroc,
    falling_share,
    risk_coverage,
    uncertainty_summary,
)
from polymodal.similarity import ranks, top_k, turned

Picture = UInt8[np.ndarray, "_ _ 3"]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of the image's sides."""

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


# Parts of what is known


def cut(image: Picture, box: Box) -> Picture:
    """A box of an image, of at least one pixel."""
    h, w = image.shape[:2]
    left, top = int(box[0] * w), int(box[1] * h)
    return image[top : max(top + 1, round(box[3] * h)), left : max(left + 1, round(box[2] * w))]


def around(thing: Thing, size: int) -> Box:
    """The least square within the image around all that is seen of an object."""
    x0, y0, x1, y1 = thing.box
    side = min(size, max(x1 - x0, y1 - y0))
    left = min(max(0, (x0 + x1 - side) // 2), size - side)
    top = min(max(0, (y0 + y1 - side) // 2), size - side)
    return left / size, top / size, (left + side) / size, (top + side) / size


def area(box: Box) -> float:
    """The share of the image that a box covers."""
    return (box[2] - box[0]) * (box[3] - box[1])


def name_of(thing: Thing) -> str:
    """An object in all its words.

    >>> name_of(Thing("small", "red", "metal", "cube", (0, 0, 0), 1.0, 1.0, (0, 0, 1, 1)))
    'a small red metal cube'
    """
    return f"a {thing.size} {thing.colour} {thing.material} {thing.shape}"


def object_parts(record: Record) -> list[Part]:
    """The three largest objects that are seen well and cover a fifth of the image at most, each beside
    the whole, whose text is their three names in a row (001, §3.4); none where there are fewer."""
    if record.scene is None:
        raise PolymodalError("Objects and their boxes are known of drawn worlds alone.")
    size = len(record.image)
    clear = [thing for thing in record.scene.things if thing.visible >= CLEAR]
    boxes = [(around(thing, size), thing) for thing in clear]
    fitting = sorted((b for b in boxes if area(b[0]) <= LARGEST), key=lambda b: -area(b[0]))[:PARTS]
    if len(fitting) < PARTS:
        return []
    whole = ", ".join(name_of(thing) for _, thing in fitting)
    return [
        Part(record.image, cut(record.image, box), whole, name_of(thing)) for box, thing in fitting
    ]


def truncated(text: str) -> str:
    """The first half of a caption's words.

    >>> truncated("A man with a red helmet on a small moped on a dirt road.")
    'A man with a red helmet on'
    """
    words = text.split()
    return " ".join(words[: (len(words) + 1) // 2])


# Probes


def asked(dataset: Dataset) -> range:
    """The images of a split that are asked about."""
    return range(min(len(dataset), MOST))


@torch.no_grad()
def extent_of(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """Whether whole and part are told apart, from text and from images (001, §3.4; R5)."""
    test = splits["test"]
    parts = [part for i in asked(test) for part in object_parts(test[i])]
    if not parts:
        raise PolymodalError("No image has three objects to crop. Give scenes of more objects.")
    images = [system.encode_images([p.crop for p in parts]), whole_images(system, parts)]
    texts = [system.encode_texts([getattr(p, name) for p in parts]) for name in ("phrase", "text")]
    scores = torch.stack(
        [torch.stack([one_by_one(system, x, y) for y in texts], -1) for x in images], 1
    )
    return {**extent(scores), "items": float(len(parts))}


def whole_images(system: Any, parts: Sequence[Part]) -> Any:
    """The embeddings of the whole images, each encoded once though several parts share it."""
    first = {id(part.image): place for place, part in reversed(list(enumerate(parts)))}
    places = {key: k for k, key in enumerate(first)}
    found = system.encode_images([parts[place].image for place in first.values()])
    return found[torch.tensor([places[id(part.image)] for part in parts])]


def one_by_one(system: Any, images: Any, texts: Any, block: int = 64) -> Float[Tensor, " n"]:
    """The score of each image with the text beside it."""
    blocks = (slice(start, start + block) for start in range(0, len(images), block))
    return torch.cat([system.measure(images[part], texts[part]).diagonal() for part in blocks])


@torch.no_grad()
def entropy_of_parts(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """Whether entropy falls from a caption to its truncation and from an image to its crop (Table 3; R4).

    `caption_falls` and `image_falls` are percentages of pairs, beside the mean log det Σ of the whole
    and of its part.
    """
    test = splits["test"]
    texts, images = text_pairs(test), image_pairs(test)
    found: dict[str, float] = {}
    for name, pairs, encode in (
        ("caption", texts, system.encode_texts),
        ("image", images, system.encode_images),
    ):
        whole, part = (encode([pair[k] for pair in pairs]) for k in (0, 1))
        if isinstance(whole, DiagonalGaussian):
            found[f"{name}_falls"] = 100 * falling_share(whole.log_det(), part.log_det())
            found[f"{name}_whole"] = whole.log_det().mean().item()
            found[f"{name}_part"] = part.log_det().mean().item()
    return found | example_entropies(system, splits)


def text_pairs(dataset: Dataset) -> list[tuple[str, str]]:
    """Captions and their truncations: to an object's name where they list whole scenes."""
    pairs = []
    for i in asked(dataset):
        record = None
        for caption in dataset.captions(i):
            if not caption.phrases:
                pairs.append((caption.text, truncated(caption.text)))
            elif caption.extent == "whole":
                record = record or dataset[i]
                things = record.scene.things if record.scene else ()
                pairs += [(caption.text, name_of(thing)) for thing in things[:1]]
    return pairs


def image_pairs(dataset: Dataset) -> list[tuple[Picture, Picture]]:
    """Images and their crops: an object each where it is known, else the middle."""
    pairs = []
    for i in asked(dataset):
        record = dataset[i]
        if record.scene is None:
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


def example_entropies(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """log det Σ of the paper's examples, where the data have them."""
    found: dict[str, float] = {}
    for example in EXAMPLES:
        image = picture_of(example.id, splits)
        if image is None:
            continue
        names = [example.name, *example.parts]
        texts = [example.text, *(text for text, _ in example.parts.values())]
        crops = [image, *(cut(image, box) for _, box in example.parts.values())]
        for side, encoded in (
            ("caption", system.encode_texts(texts)),
            ("image", system.encode_images(crops)),
        ):
            if isinstance(encoded, DiagonalGaussian):
                values = encoded.log_det().tolist()
                found |= {f"{n}_{side}": v for n, v in zip(names, values, strict=True)}
    return found


def picture_of(id: str, splits: Mapping[str, Dataset]) -> Picture | None:
    """The image of this id in whichever split has it."""
    for dataset in splits.values():
        ids = getattr(getattr(dataset, "dataset", dataset), "ids", ())
        if id in ids:
            return dataset[ids.index(id)].image
    return None


COVERAGES = (10, 25, 50, 75, 100)


@torch.no_grad()
def uncertainty_of(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """How well a query's entropy, and beside it the score of its first answer, tell wrong from right (R6).

    The score is what a point model has to go by: `…_score_auroc` is the figure to beat. `…_risk_10`
    is the percentage of wrong first answers among the surest tenth of the queries, and so on.
    """
    test = splits["test"]
    texts = captions_of(test)[:MOST]
    owner = owners(texts).to(system.device)
    images = system.encode_dataset(test)[:MOST]
    captions = system.encode_texts([text for own in texts for text in own])
    i2t, t2i = ranks(system.measure, images, captions, owner)
    found: dict[str, float] = {}
    for side, queries, items, rank, towards in (
        ("image", images, captions, i2t, system.measure),
        ("caption", captions, images, t2i, turned(system.measure)),
    ):
        best = top_k(towards, queries, items, 1)[0][:, 0]
        found |= {f"{side}_score_{k}": v for k, v in doubt(rank, -best).items()}
        if isinstance(queries, DiagonalGaussian):
            entropy = queries.log_det()
            own = uncertainty_summary(rank, entropy) | doubt(rank, entropy)
            found |= {f"{side}_{k}": v for k, v in own.items()}
    return found


def doubt(rank: Tensor, doubts: Float[Tensor, " q"]) -> dict[str, float]:
    """The AUROC of 'top-1 is wrong' as a percentage, and the risk in percent at some coverages."""
    auroc = error_auroc(rank, doubts)
    found = {} if auroc is None else {"auroc": 100 * auroc}
    _, risk = risk_coverage(rank, doubts)
    for percent in COVERAGES:
        kept = max(1, len(risk) * percent // 100)
        found[f"risk_{percent}"] = 100 * risk[kept - 1].item()
    return found
