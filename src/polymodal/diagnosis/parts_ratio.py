"""How much of a heatmap lies on parts, and with which likeness of two images that goes (003, §4.5.2, A.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import cosine_similarity

from polymodal.base.errors import PolymodalError

Trend = list[tuple[float, float]]

FEWEST = 3
"""Points that a correlation needs: of two, r is 1 or −1 whatever they are."""


@dataclass(frozen=True, kw_only=True)
class Relating:
    """Which pairs of images are compared, and how their scores are read."""

    pairs: int = 20_000
    """Pairs of different images (003, A.4)."""
    normalised: Literal["softmax", "range"] = "softmax"
    """How scores become relative to those of the image's other places: the thesis only says that they are
    (§4.4.3)."""

    def __post_init__(self) -> None:
        if self.pairs < FEWEST:
            raise PolymodalError(f"A correlation needs {FEWEST} pairs or more, not {self.pairs}.")


@dataclass(frozen=True)
class Relation:
    """The parts ratio of pairs of images, and how alike these are."""

    ratios: Float[Tensor, " k"]
    areas: Float[Tensor, " k"]
    """What the ratios would be if all places scored alike."""
    likeness: Mapping[str, Float[Tensor, " k"]]
    """By attributes and by pixels."""

    def scores(self) -> dict[str, float]:
        """Means, and Pearson's r and its p with either likeness."""
        scores = {
            "parts_ratio": self.ratios.mean().item(),
            "parts_area": self.areas.mean().item(),
        }
        for name, like in self.likeness.items():
            scores[f"ratio_r_{name}"], scores[f"ratio_p_{name}"] = correlation(self.ratios, like)
        return scores

    def trends(self) -> dict[str, Trend]:
        """How the ratio rises with either likeness."""
        return {name: trend(like, self.ratios) for name, like in self.likeness.items()}


def draw_pairs(images: int, count: int, seed: int = 0) -> Int[Tensor, "k 2"]:
    """Pairs of different images: each is the second as often as any other, and the first is drawn."""
    generator = torch.Generator().manual_seed(seed)
    second = torch.arange(count) % images
    apart = torch.randint(1, images, (count,), generator=generator)
    return torch.stack([(second + apart) % images, second], 1)


def parts_ratio(
    heat: Float[Tensor, "k side side"], parts: Bool[Tensor, "k p side side"]
) -> Float[Tensor, " k"]:
    """The score of places with any part, over that of all places (003, §4.5.2)."""
    there = parts.any(1)
    return (heat * there).sum((1, 2)) / heat.sum((1, 2)).clamp_min(1e-12)


def attribute_likeness(
    attributes: Float[Tensor, "c a"], labels: Int[Tensor, " n"], pairs: Int[Tensor, "k 2"]
) -> Float[Tensor, " k"]:
    """The cosine of the attributes of both images' classes.

    The thesis writes 'cosine distance' (§4.5.2), but speaks of it as a similarity throughout.
    """
    first, second = attributes[labels[pairs]].unbind(1)
    return cosine_similarity(first, second, dim=-1)


def pixel_likeness(
    first: UInt8[Tensor, "k 3 h w"], second: UInt8[Tensor, "k 3 h w"]
) -> Float[Tensor, " k"]:
    """The structural similarity of two pictures, SSIM."""
    from torchmetrics.functional.image import structural_similarity_index_measure

    likeness = structural_similarity_index_measure(
        first.float(), second.float(), data_range=255.0, reduction="none"
    )
    if not isinstance(likeness, Tensor):  # it also has a form that gives more
        likeness = likeness[0]
    return likeness.reshape(-1)


def correlation(x: Float[Tensor, " k"], y: Float[Tensor, " k"]) -> tuple[float, float]:
    """Pearson's r, and how probable one so far from 0 is if nothing goes with anything; nan and 1 of
    fewer than three points, or if one of both never varies."""
    from scipy.stats import pearsonr

    a, b = x.double().cpu().numpy(), y.double().cpu().numpy()
    if len(a) < FEWEST or any(np.ptp(some) <= 1e-10 * np.abs(some).max() for some in (a, b)):
        return float("nan"), 1.0
    result = pearsonr(a, b)
    return float(result.statistic), float(result.pvalue)


def trend(x: Float[Tensor, " k"], y: Float[Tensor, " k"], bins: int = 10) -> Trend:
    """The mean of y in equal shares of the pairs, ordered by x, at the mean of x in each.

    >>> trend(torch.tensor([3.0, 0.0, 1.0, 2.0]), torch.tensor([8.0, 1.0, 3.0, 6.0]), bins=2)
    [(0.5, 2.0), (2.5, 7.0)]
    """
    order = x.argsort()
    shares = zip(x[order].tensor_split(bins), y[order].tensor_split(bins), strict=True)
    return [(a.mean().item(), b.mean().item()) for a, b in shares if len(a)]
