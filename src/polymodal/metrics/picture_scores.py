"""All scores of pictures made from layouts, from bytes in memory, beside one protocol (003, §6.4)."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, check_ranges
from polymodal.metrics.diversity import feature_distance
from polymodal.metrics.frechet import Moments, frechet_distance, shortage
from polymodal.metrics.inception_score import SPLITS, inception_score
from polymodal.metrics.kernel_distance import Subsets, kernel_distance
from polymodal.nn.feature_networks import FeatureNetwork, Seen


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How pictures are measured."""

    splits: OneOrMore[int] = SPLITS
    """Parts of the pictures in the Inception score."""
    kid: Subsets = field(default_factory=Subsets)
    """Subsets of KID; where pictures are fewer than two of them have, each has half of the pictures."""
    block: OneOrMore[int] = 32
    """Pictures or crops that the network sees at once; it changes no score."""

    def __post_init__(self) -> None:
        check_ranges(self)


class PictureSide:
    """What is kept of real pictures, or of made ones: moments of whole pictures and of their objects,
    features and logits. That of real ones can be kept and compared with many models."""

    def __init__(self, network: FeatureNetwork, block: int = Measuring.block) -> None:
        self.network, self.block = network, block
        self.pictures: Moments | None = None
        self.objects: Moments | None = None
        self.features: list[Float[Tensor, "b d"]] = []
        self.logits: list[Float[Tensor, "b k"]] = []

    def add(
        self,
        pictures: UInt8[Tensor, "b h w 3"],
        boxes: Float[Tensor, "b o 4"],
        there: Bool[Tensor, "b o"],
    ) -> None:
        """Look at more pictures and the crops of their objects.

        Args:
            pictures: as bytes, on the network's device.
            boxes: in sides of the picture.
            there: which boxes are objects and no padding.
        """
        for some in pictures.split(self.block):
            seen = self.network.see(some)
            self.pictures = joined(self.pictures, seen)
            self.features.append(seen.features.float().cpu())
            if seen.logits is not None:
                self.logits.append(seen.logits.float().cpu())
        owner, place = there.nonzero(as_tuple=True)
        for first in range(0, len(owner), self.block):
            rows = slice(first, first + self.block)
            cut = boxes[owner[rows], place[rows]]
            crops = self.network.see_crops(pictures, cut, owner[rows])
            self.objects = joined(self.objects, crops)


def joined(moments: Moments | None, seen: Seen) -> Moments:
    """Moments with some features more."""
    if moments is None:
        moments = Moments(seen.features.shape[1], seen.features.device)
    moments.add(seen.features)
    return moments


class PictureScores:
    """Compares made pictures with real ones.

    Args:
        network: what both are seen through.
        measuring: splits, subsets and blocks.
        real: real pictures that were looked at before, with the same network.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        measuring: Measuring | None = None,
        real: PictureSide | None = None,
    ) -> None:
        self.network, self.measuring = network, measuring or Measuring()
        self.real = real or PictureSide(network, self.measuring.block)
        self.made = PictureSide(network, self.measuring.block)
        if self.real.network.fingerprint() != network.fingerprint():
            raise PolymodalError(
                "The real pictures were looked at with another feature network "
                f"({self.real.network.fingerprint()}) than the made ones are ({network.fingerprint()}). "
                "Look at both with one."
            )

    def add(
        self,
        real: UInt8[Tensor, "b h w 3"],
        made: UInt8[Tensor, "b h w 3"],
        boxes: Float[Tensor, "b o 4"],
        there: Bool[Tensor, "b o"],
    ) -> None:
        """Look at real pictures, and at those made from their layouts."""
        self.real.add(real, boxes, there)
        self.made.add(made, boxes, there)

    def scores(self) -> dict[str, float]:
        """`fid`, `scene_fid`, `kid` with the spread of its subsets, `is` with that of its splits, and how
        many made pictures and objects they are of; what the pictures do not allow is left out."""
        told = {"fid": self.fid()}
        objects = 0
        if self.real.objects and self.made.objects:
            told["scene_fid"] = frechet_distance(self.real.objects, self.made.objects)
            objects = self.made.objects.count
        kid = kernel_distance(*self.features(), self.subsets())
        told |= kid.named("kid")
        if self.made.logits:
            own = inception_score(torch.cat(self.made.logits), self.measuring.splits)
            told |= {"is": own.mean, "is_spread": own.spread}
        return told | {"pictures": float(len(self.features()[1])), "objects": float(objects)}

    def fid(self) -> float:
        """The Fréchet distance of whole pictures alone."""
        if not (self.real.pictures and self.made.pictures):
            raise PolymodalError("There are no pictures to compare yet. Add real and made ones.")
        return frechet_distance(self.real.pictures, self.made.pictures)

    def features(self) -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"]]:
        """Those of all real and all made pictures."""
        return torch.cat(self.real.features), torch.cat(self.made.features)

    def subsets(self) -> Subsets:
        """Subsets of KID, none larger than half of the pictures: two of all pictures would be the same,
        and have no spread."""
        fewest = min(len(side) for side in self.features())
        return replace(self.measuring.kid, size=min(self.measuring.kid.size, max(fewest // 2, 2)))

    def protocol(self) -> dict[str, Any]:
        """What two figures must share to be compared."""
        counts = {
            f"{name}_{what}": moments.count if moments else 0
            for name, side in (("real", self.real), ("made", self.made))
            for what, moments in (("pictures", side.pictures), ("objects", side.objects))
        }
        return {
            **self.network.fingerprint(),
            **counts,
            "splits": self.measuring.splits,
            "kid": asdict(self.subsets()),
        }

    def symptoms(self) -> list[str]:
        """What to know of these scores, in plain words."""
        sides = {
            "fid": (self.real.pictures, self.made.pictures),
            "scene_fid": (self.real.objects, self.made.objects),
        }
        told = {name: shortage(real, made) for name, (real, made) in sides.items() if real and made}
        return [f"{name}: {text}" for name, text in told.items() if text]


def diversity(
    network: FeatureNetwork, samples: UInt8[Tensor, "n s h w 3"], block: int = Measuring.block
) -> Float[Tensor, " n"]:
    """How differently the network sees pictures of one layout, for each of n: see `feature_distance`."""
    return torch.cat([feature_distance(maps) for maps in maps_of_layouts(network, samples, block)])


def maps_of_layouts(
    network: FeatureNetwork, samples: UInt8[Tensor, "n s h w 3"], block: int
) -> Iterator[list[Float[Tensor, "m s _ _ _"]]]:
    """The network's maps of the pictures of some layouts at once."""
    count = samples.shape[1]
    for some in samples.split(max(block // count, 1)):
        seen = network.see(some.flatten(0, 1))
        yield [maps.unflatten(0, (len(some), count)) for maps in seen.maps]
