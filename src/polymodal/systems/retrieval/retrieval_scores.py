"""What a split of embedded images and captions scores: recall, hubness, uncertainty, precision, sureness."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.data.records import Dataset
from polymodal.data.vocabulary import UNK, Vocabulary
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, Measure, ranks, turned
from polymodal.metrics.calibration import calibration_error
from polymodal.metrics.hubness import hubness
from polymodal.metrics.precision import belonging, precision
from polymodal.metrics.recall import retrieval_in_folds, summarise
from polymodal.metrics.uncertainty import uncertainty_summary, variance_collapse
from polymodal.search import Item, Items, build, calibrate
from polymodal.search.calibrating import QUERIES, claims
from polymodal.search.facing import SIDES, Side
from polymodal.search.sureness import FIRST

LARGEST = 5000
"""The most images of a split whose captions are held against them all: half a minute on one core."""


def selection_scores(
    measure: Measure,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    *,
    fold: int,
    bounds: tuple[float, float] | None,
) -> dict[str, float]:
    """Recalls over the whole split and, where it has several folds, their mean; hubness; and for
    Gaussians with bounded variances, how much their entropy tells and how many are stuck."""
    i2t, t2i = ranks(measure, images, captions, owner)
    scores = summarise(i2t, t2i) | hubness(measure, images, captions)
    for side, embedded, rank in (("image", images, i2t), ("caption", captions, t2i)):
        if isinstance(embedded, DiagonalGaussian) and bounds:
            summary = uncertainty_summary(rank, embedded.entropy())
            summary |= variance_collapse(embedded, *bounds)
            scores |= {f"{side}_{name}": value for name, value in summary.items()}
    if len(images) >= 2 * fold:
        folds = retrieval_in_folds(measure, images, captions, owner, fold)
        scores |= {f"fold_{name}": value for name, value in folds.items()}
    return scores


def precisions(
    measure: Measure,
    images: Embeddings,
    captions: Embeddings,
    owner: Int[Tensor, " n"],
    true: Callable[[slice], Bool[Tensor, "b m"]] | None,
) -> dict[str, float]:
    """R-precision and mAP@R: of images, whose captions are right, and of captions, where it is known of
    which images each is true."""
    own_captions = belonging(torch.arange(len(images), device=owner.device), owner)
    by_way = {"i2t": precision(measure, images, captions, own_captions)}
    if true:
        by_way["t2i"] = precision(turned(measure), captions, images, true)
    return {f"{way}_{name}": value for way, both in by_way.items() for name, value in both.items()}


def true_pairs(
    dataset: Dataset, device: torch.device
) -> Callable[[slice], Bool[Tensor, "b m"]] | None:
    """Of which images each caption of a split is true, by rows; None where nobody knows, or of too many."""
    truth = dataset.column("captions", "Precision").truth
    if truth is None or len(dataset) > LARGEST:
        return None
    rows = truth()
    return lambda part: torch.from_numpy(rows(part)).to(device)


Split = tuple[Any, Any, Tensor]
"""Images, captions, and which image each caption belongs to."""


def calibration_errors(
    similarity: str, images: Embeddings, captions: Embeddings, owner: Int[Tensor, " n"]
) -> dict[str, float]:
    """The expected calibration error of a search's claims, of captions and of images as queries; nothing
    of a split too small. Each half of the split is an index, calibrated with the queries of the other half
    and asked those of its own."""
    halves = [half(images, captions, owner, start) for start in (0, 1)]
    if min(len(part) for both in halves for part in both) < max(QUERIES, FIRST + 1):
        return {}
    errors = {}
    for side in SIDES:
        claims = [half_claims(similarity, side, *pair) for pair in (halves, halves[::-1])]
        claimed, right = map(torch.cat, zip(*claims, strict=True))
        errors["t2i_ece" if side == "image" else "i2t_ece"] = calibration_error(claimed, right)
    return errors


def half(images: Any, captions: Any, owner: Tensor, start: int) -> Split:
    """Every second image, with its captions."""
    mine = owner % 2 == start
    return images[start::2], captions[mine], owner[mine] // 2


def half_claims(
    similarity: str, side: Side, here: Split, there: Split
) -> tuple[Float[Tensor, " q"], Bool[Tensor, " q"]]:
    """What an index of one half claims when it is calibrated with the other, and what is right."""
    embeddings = here[0] if side == "image" else here[1]
    items = Items.of(Item(id=str(place)) for place in range(len(embeddings)))
    index = build(embeddings, items, side=side, measure=similarity)
    known = calibrate(index, *there, split="half a split")
    return claims(index, known, *here, ids=items.ids)


def unknown_words(vocabulary: Vocabulary, texts: Sequence[str]) -> float:
    """The percentage of the words of some captions that a model never met in training.

    >>> unknown_words(Vocabulary.of(["a red cube"]), ["a red ball", "A ball."])
    40.0
    """
    tokens, lengths = vocabulary.encode_batch(texts)
    words = int((lengths - 2).sum())  # less the start and the end
    return 100 * int((tokens == UNK).sum()) / max(words, 1)
