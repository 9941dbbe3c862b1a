"""What a generator is told of a layout: masked object embeddings, class maps, edges (003, §6.3.2)."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.layout_maps import Layouts, boundaries, one_hot, placed
from polymodal.nn.spectra import spectral_norm

Part = Literal["embeddings", "classes", "boundaries"]

START = 4
"""The side from which a mask is grown."""


@dataclass(frozen=True)
class Objects:
    """What the objects of a batch of layouts are like."""

    embeddings: Float[Tensor, "b o e"]
    masks: Float[Tensor, "b o m m"]
    """Within their boxes."""


class Condition:
    """What is told of a batch of layouts, as maps of whatever size a layer has.

    Maps are drawn at each size anew: edges a pixel wide would be lost by making larger maps smaller,
    as SPADE does.
    """

    def __init__(
        self,
        layouts: Layouts,
        *,
        classes: int,
        parts: tuple[Part, ...],
        objects: Objects | None = None,
    ) -> None:
        """What is told of these layouts.

        Args:
            layouts: whose condition it is.
            classes: how many classes there are.
            parts: which of the maps it has.
            objects: what their objects are like, where that is told.
        """
        self.layouts, self.classes, self.parts = layouts, classes, parts
        self.objects = objects
        self.drawn: dict[int, Tensor] = {}

    def maps(self, size: int) -> Float[Tensor, "b c {size} {size}"]:
        """All of its parts, one after another."""
        if size not in self.drawn:
            self.drawn[size] = torch.cat([self.part(part, size) for part in self.parts], 1)
        return self.drawn[size]

    def part(self, name: Part, size: int) -> Float[Tensor, "b c {size} {size}"]:
        """One of its parts."""
        if name == "classes":
            return one_hot(self.layouts, self.classes, size)
        return boundaries(self.layouts, size) if name == "boundaries" else self.masked(size)

    def of_objects(
        self, size: int
    ) -> tuple[Float[Tensor, "b o {size} {size}"], Float[Tensor, "b o e"]]:
        """Each object's mask in its place, and its embedding."""
        if self.objects is None:
            raise PolymodalError("Nothing is told of the objects of this condition.")
        masks = placed(self.objects.masks, self.layouts, size)
        return masks, self.objects.embeddings

    def masked(self, size: int) -> Float[Tensor, "b e {size} {size}"]:
        """Σ mask × embedding over the objects, by the sum of the masks where that is above 1.

        LostGAN divides by the sum everywhere, so that a mask tells nothing where its object is alone.
        """
        masks, embeddings = self.of_objects(size)
        total = torch.einsum("bohw,boe->behw", masks, embeddings.to(masks.dtype))
        return total / masks.sum(1, keepdim=True).clamp_min(1)


class MaskNet(nn.Module):
    """An object's embedding to its mask: from 4×4 doubled up to m×m (Fig. B.2 c, after LostGAN's).

    Args:
        objects: the width of an embedding.
        width: maps; LostGAN has 256.
        side: m.
    """

    def __init__(self, objects: int, *, width: int, side: int) -> None:
        super().__init__()
        self.width = width
        self.start = spectral_norm(nn.Linear(objects, width * START**2))
        doublings = (side // START).bit_length() - 1
        self.grow = nn.ModuleList(
            nn.Sequential(
                nn.GroupNorm(1, width),
                nn.ReLU(),
                nn.Upsample(scale_factor=2, mode="nearest"),
                spectral_norm(nn.Conv2d(width, width, 3, padding=1)),
            )
            for _ in range(doublings)
        )
        self.last = nn.Sequential(
            nn.GroupNorm(1, width), nn.ReLU(), spectral_norm(nn.Conv2d(width, 1, 1))
        )

    def forward(self, embeddings: Float[Tensor, "b o e"]) -> Float[Tensor, "b o m m"]:
        maps = self.start(embeddings.flatten(0, 1)).unflatten(1, (self.width, START, START))
        for doubling in self.grow:
            maps = doubling(maps)
        masks: Tensor = self.last(maps).sigmoid()
        return masks.view(*embeddings.shape[:2], *masks.shape[-2:])


class LayoutConditioning(nn.Module):
    """Layouts to their condition: embeddings of objects by class and noise, and masks of those.

    Args:
        classes: how many there are.
        parts: which maps the condition has.
        objects: whether it tells what the objects are like.
        noise: numbers of noise an object has.
        dim: the width of an embedding.
        mask_width: maps of the mask net.
        mask_side: the side of a mask.
    """

    def __init__(
        self,
        *,
        classes: int,
        parts: tuple[Part, ...],
        objects: bool,
        noise: int,
        dim: int,
        mask_width: int,
        mask_side: int,
    ) -> None:
        super().__init__()
        self.classes, self.parts, self.told = classes, parts, objects
        widths = {"embeddings": dim, "classes": classes, "boundaries": 1}
        self.channels = sum(widths[part] for part in parts)
        if objects:
            self.embed = nn.Embedding(classes, dim)
            self.join = spectral_norm(nn.Linear(dim + noise, dim))
            self.mask_net = MaskNet(dim, width=mask_width, side=mask_side)

    def forward(self, layouts: Layouts, noise: Float[Tensor, "b o z"]) -> Condition:
        objects = self.objects(layouts, noise) if self.told else None
        return Condition(layouts, classes=self.classes, parts=self.parts, objects=objects)

    def objects(self, layouts: Layouts, noise: Float[Tensor, "b o z"]) -> Objects:
        """What the objects are like: by their classes, and each by noise of its own."""
        embeddings = self.join(torch.cat([self.embed(layouts.classes), noise], -1))
        return Objects(embeddings, self.mask_net(embeddings))
