"""What trained retrieval systems are asked beside recall: extent, entropy of parts, uncertainty.

Each probe takes a system and the splits of its data and gives named figures. Where the truth of the
images is known (the embedded worlds) a part is an object: its box and its phrase. Elsewhere it is
the first half of a caption's words and the middle of the image.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.pairs import captions_of, owners
from polymodal.data.records import Dataset
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import ranks, top_k, turned
from polymodal.metrics.extent import extent
from polymodal.metrics.uncertainty import (
    error_auroc,
    falling_share,
    risk_coverage,
    uncertainty_summary,
)
from polymodal.systems.retrieval.image_parts import (
    EXAMPLES,
    MOST,
    Part,
    cut,
    image_pairs,
    object_parts,
    picture_of,
    queried_images,
    text_pairs,
)


@torch.no_grad()
def extent_of(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """Whether whole and part are told apart, from text and from images (001, §3.4; R5)."""
    test = splits["test"]
    parts = [part for i in queried_images(test) for part in object_parts(test[i])]
    if not parts:
        raise PolymodalError("No image has three objects to crop. Give scenes of more objects.")
    images = [system.encode_images([p.crop for p in parts]), whole_images(system, parts)]
    texts = [
        system.encode_captions([getattr(p, name) for p in parts]) for name in ("phrase", "text")
    ]
    scores = torch.stack(
        [torch.stack([one_by_one(system, x, y) for y in texts], -1) for x in images], 1
    )
    return {**extent(scores), "items": float(len(parts))}


def whole_images(system: Any, parts: Sequence[Part]) -> Any:
    """The embeddings of the whole images, each encoded once though several parts share it."""
    first = {id(part.image): place for place, part in reversed(list(enumerate(parts)))}
    places = {key: k for k, key in enumerate(first)}
    embeddings = system.encode_images([parts[place].image for place in first.values()])
    return embeddings[torch.tensor([places[id(part.image)] for part in parts])]


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
    scores: dict[str, float] = {}
    for name, pairs, encode in (
        ("caption", texts, system.encode_captions),
        ("image", images, system.encode_images),
    ):
        whole, part = (encode([pair[k] for pair in pairs]) for k in (0, 1))
        if isinstance(whole, DiagonalGaussian):
            scores[f"{name}_falls"] = 100 * falling_share(whole.log_det(), part.log_det())
            scores[f"{name}_whole"] = whole.log_det().mean().item()
            scores[f"{name}_part"] = part.log_det().mean().item()
    return scores | example_entropies(system, splits)


def example_entropies(system: Any, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """log det Σ of the paper's examples, where the data have them."""
    entropies: dict[str, float] = {}
    for example in EXAMPLES:
        image = picture_of(example.id, splits)
        if image is None:
            continue
        names = [example.name, *example.parts]
        texts = [example.text, *(text for text, _ in example.parts.values())]
        crops = [image, *(cut(image, box) for _, box in example.parts.values())]
        for side, encoded in (
            ("caption", system.encode_captions(texts)),
            ("image", system.encode_images(crops)),
        ):
            if isinstance(encoded, DiagonalGaussian):
                values = encoded.log_det().tolist()
                entropies |= {f"{n}_{side}": v for n, v in zip(names, values, strict=True)}
    return entropies


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
    captions = system.encode_captions([text for image_texts in texts for text in image_texts])
    i2t, t2i = ranks(system.measure, images, captions, owner)
    scores: dict[str, float] = {}
    for side, queries, items, rank, towards in (
        ("image", images, captions, i2t, system.measure),
        ("caption", captions, images, t2i, turned(system.measure)),
    ):
        best = top_k(towards, queries, items, 1)[0][:, 0]
        scores |= {f"{side}_score_{k}": v for k, v in doubt(rank, -best).items()}
        if isinstance(queries, DiagonalGaussian):
            entropy = queries.entropy()
            summary = doubt(rank, entropy) | uncertainty_summary(rank, entropy)
            summary.pop("error_auroc", None)  # the same as a share of one
            scores |= {f"{side}_{k}": v for k, v in summary.items()}
    return scores


def doubt(rank: Tensor, doubts: Float[Tensor, " q"]) -> dict[str, float]:
    """The AUROC of 'top-1 is wrong' as a percentage, and the risk in percent at some coverages."""
    auroc = error_auroc(rank, doubts)
    scores = {} if auroc is None else {"auroc": 100 * auroc}
    _, risk = risk_coverage(rank, doubts)
    for percent in COVERAGES:
        kept = max(1, len(risk) * percent // 100)
        scores[f"risk_{percent}"] = 100 * risk[kept - 1].item()
    return scores
