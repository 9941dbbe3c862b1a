"""An encoder before the images that it is measured on: which they are, and what it finds in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import watched
from polymodal.base.ranges import TwoOrMore, check_ranges
from polymodal.data.classes import has_classes
from polymodal.data.records import Dataset
from polymodal.diagnosis.compositionality import Fit
from polymodal.diagnosis.encoders import Encoder, ImageFeatures
from polymodal.diagnosis.locality import SQUARE, Probing, part_maps
from polymodal.diagnosis.parts_ratio import (
    Relating,
    Relation,
    attribute_likeness,
    draw_pairs,
    parts_ratio,
    pixel_likeness,
)
from polymodal.diagnosis.pointwise import Mining, Statistics, fit_statistics, normalised, score_maps

BLOCK = 128
"""Pictures that are encoded at once."""

LARGEST = 6e4
"""What half precision can still hold."""

CLASSLESS = "the images have no classes with attributes"
PARTLESS = "it is not known where the images have their parts"

LACKING: Mapping[str, tuple[str, ...]] = {
    "zeroshot": (CLASSLESS,),
    "tre": (CLASSLESS,),
    "parts": (PARTLESS,),
    "heatmaps": (),
    "ratio": (CLASSLESS, PARTLESS),
}
"""The measures, and what keeps images from being measured so."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an encoder is measured on, and how."""

    fit: str = "train"
    """The split, of seen classes, to whose images whatever is fitted is fitted."""
    test: str = "test"
    """The split, of other images, that is measured."""
    images: TwoOrMore[int] = 6000
    """Images of either at most, spread evenly; their local features are all kept, in half precision. Random
    attributes are sooner known by heart where images are few, so that the TRE ratio falls."""
    threshold: float | None = None
    """An attribute counts as present in a class above this; by default above its own mean over classes.
    The thesis says only that attributes are thresholded (003, A.8)."""
    tre: Fit = field(default_factory=Fit)
    """The tree reconstruction error."""
    parts: Probing = field(default_factory=Probing)
    """Probes of parts."""
    heatmaps: Mining = field(default_factory=Mining)
    """Mutual information of global and local features."""
    ratio: Relating = field(default_factory=Relating)
    """The ratio of parts, and what it goes with."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.fit == self.test:
            raise PolymodalError(
                f"An encoder is measured on other images than those that are fitted to; found {self.fit!r} "
                "for both. Name two splits."
            )


@dataclass(frozen=True)
class Sample:
    """Some images of a split."""

    dataset: Dataset
    rows: Int64[np.ndarray, " n"]
    among: int | None = None
    """How many images there were to choose from, if not all were taken."""

    def __len__(self) -> int:
        return len(self.rows)

    def pictures(self, some: Int64[np.ndarray, " b"]) -> UInt8[Tensor, "b 3 h w"]:
        """The pictures at some places of the sample."""
        images = self.dataset.images(self.rows[some].tolist())
        return torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2)

    @property
    def classed(self) -> Dataset | None:
        """The split, if its images have classes with attributes."""
        return self.dataset if has_classes(self.dataset) else None

    @cached_property
    def labels(self) -> Int64[Tensor, " n"]:
        """Each image's class; without classes, each is its own."""
        labels = np.arange(len(self)) if self.classed is None else self.classed.labels[self.rows]
        return torch.from_numpy(np.asarray(labels, np.int64))

    @property
    def attributes(self) -> Float[Tensor, "c a"]:
        """What is true of each class, and how much."""
        if self.classed is None:
            raise PolymodalError(f"Attributes are needed, but {CLASSLESS}. Give data that have.")
        return torch.from_numpy(self.classed.attributes)

    @property
    def parts(self) -> Float[Tensor, "n p 3"]:
        """Where each image has its parts."""
        if "parts" not in self.dataset.columns:
            raise PolymodalError(f"Parts are needed, but {PARTLESS}. Give data that tell.")
        return torch.from_numpy(self.dataset.column("parts").batch(self.rows.tolist()))

    @property
    def flaws(self) -> set[str]:
        """What is not known of the images."""
        known = {CLASSLESS: self.classed, PARTLESS: self.dataset.columns.get("parts")}
        return {flaw for flaw, value in known.items() if value is None}

    def fewer(self, most: int) -> "Sample":
        """So many at most, spread evenly over the split, or over each class where a list that goes round
        the classes would beat with that."""
        if len(self) <= most:
            return self
        chosen = np.linspace(0, len(self) - 1, most).round().astype(int)
        if not self.fair(chosen):
            chosen = np.sort(np.argsort(self.labels.numpy(), kind="stable")[chosen])
        return Sample(self.dataset, self.rows[chosen], among=len(self))

    def fair(self, chosen: Int64[np.ndarray, " m"]) -> bool:
        """Whether some images have as many of each class as their share is, or up to two more or fewer."""
        labels = self.labels.numpy()
        all_of, some = (
            np.bincount(part, minlength=labels.max() + 1) for part in (labels, labels[chosen])
        )
        return bool((abs(some - all_of * len(chosen) / len(labels)) <= 2).all())


def samples(data: Mapping[str, Dataset] | Dataset, how: Settings) -> tuple[Sample, Sample]:
    """The images to fit to and those to measure: of two splits, or of half the classes of one each."""
    if isinstance(data, Mapping):
        for name in (how.fit, how.test):
            if name not in data:
                raise PolymodalError(
                    f"The data have no split {name!r}, only {', '.join(data)}. Name two of them, one to "
                    "fit to and one to measure."
                )
        chosen = [Sample(data[name], np.arange(len(data[name]))) for name in (how.fit, how.test)]
    else:
        labels = Sample(data, np.arange(len(data))).labels.numpy()
        odd = np.unique(labels, return_inverse=True)[1] % 2 > 0
        chosen = [Sample(data, np.flatnonzero(half)) for half in (~odd, odd)]
    if min(map(len, chosen)) < 2:
        raise PolymodalError(
            "An encoder is measured on two images or more, after fitting to two others or more; found "
            f"{len(chosen[1])} and {len(chosen[0])}. Give more."
        )
    fit, test = (sample.fewer(how.images) for sample in chosen)
    return fit, test


class Examination:
    """An encoder and the images that it is measured on; what it finds is computed once."""

    def __init__(
        self, encoder: Encoder, data: Mapping[str, Dataset] | Dataset, how: Settings | None = None
    ) -> None:
        self.encoder, self.how = encoder, how or Settings()
        self.fit, self.test = samples(data, self.how)
        self.pixels = self.test.pictures(np.arange(1)).shape[-1]
        if encoder.pixels not in (None, self.pixels):
            raise PolymodalError(
                f"This encoder takes pictures of {encoder.pixels}×{encoder.pixels}, but the data are "
                f"{self.pixels}×{self.pixels}. Add ',size={encoder.pixels}' to the data."
            )

    @cached_property
    def seen(self) -> ImageFeatures:
        """What is found in the images to fit to."""
        return encoded(self.encoder, self.fit, "encoding images to fit to")

    @cached_property
    def asked(self) -> ImageFeatures:
        """What is found in the images to measure."""
        return encoded(self.encoder, self.test, "encoding images to measure")

    @cached_property
    def statistics(self) -> Statistics:
        """What tells global and local features of one image from those of two."""
        return fit_statistics(self.seen, self.how.heatmaps)

    @cached_property
    def relation(self) -> Relation:
        """How much of the heatmaps of pairs of images lies on parts, and how alike both are."""
        how, test, place = self.how.ratio, self.test, self.encoder.device
        pairs = draw_pairs(len(test), how.pairs)
        heat = normalised(score_maps(self.statistics, self.asked, pairs), how.normalised)
        has_parts = self.parts(test).any(1, keepdim=True)[pairs[:, 1].to(place)]
        return Relation(
            ratios=parts_ratio(heat, has_parts).cpu(),
            areas=has_parts.float().mean((1, 2, 3)).cpu(),
            likeness={
                "attributes": attribute_likeness(test.attributes, test.labels, pairs),
                "ssim": compared(test, pairs, place),
            },
        )

    def lacking(self, measure: str) -> str | None:
        """Why the images cannot be measured so, or nothing if they can."""
        flaws = self.fit.flaws | self.test.flaws
        return next((flaw for flaw in LACKING[measure] if flaw in flaws), None)

    def present(self, sample: Sample) -> Bool[Tensor, "n a"]:
        """Which attributes the class of each image has."""
        values = sample.attributes
        least = values.mean(0) if self.how.threshold is None else self.how.threshold
        return (values > least)[sample.labels].to(self.encoder.device)

    def parts(self, sample: Sample) -> Bool[Tensor, "n p side side"]:
        """Which places of the maps see which parts; parts are squares of the picture's own pixels."""
        encoder = self.encoder
        return part_maps(
            sample.parts.to(encoder.device),
            encoder.window,
            self.asked.local.shape[-1],
            encoder.size,
            encoder.crop,
            square=SQUARE * encoder.size / (self.pixels * encoder.crop),
        )


def blocks(count: int) -> list[Int64[np.ndarray, " b"]]:
    """So many places, some at a time."""
    return [np.arange(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]


@torch.no_grad()
def encoded(encoder: Encoder, sample: Sample, title: str) -> ImageFeatures:
    """What an encoder finds in all images of a sample, its maps in half precision where they fit."""
    whole, local = [], []
    for some in watched(blocks(len(sample)), title):
        features = encoder.look(sample.pictures(some).to(encoder.device))
        whole.append(features.whole)
        fits = features.local.abs().max() < LARGEST
        local.append(features.local.half() if fits else features.local)
    looked = ImageFeatures(torch.cat(whole), torch.cat(local))
    if not (looked.whole.isfinite().all() and looked.local.isfinite().all()):
        raise PolymodalError("Some features are not finite numbers. Look at the encoder first.")
    return looked


def compared(
    sample: Sample, pairs: Int64[Tensor, "k 2"], device: torch.device
) -> Float[Tensor, " k"]:
    """The SSIM of both pictures of each pair."""
    pictures = torch.cat([sample.pictures(some) for some in blocks(len(sample))]).to(device)
    some = watched(pairs.to(device).split(BLOCK), "comparing pictures")
    return torch.cat([pixel_likeness(*pictures[each].unbind(1)) for each in some]).cpu()
