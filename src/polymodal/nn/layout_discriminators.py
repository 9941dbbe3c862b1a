"""The discriminators of OC-GAN: of patches at two sizes, and of objects (003, §6.3.3.2, Fig. B.1–2).

Their widths are lost in the text. Patches are judged by four convolutions after SPADE's, with
spectral norm alone; crops by residual blocks after LostGAN's.
"""

import itertools
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from polymodal.nn.layout_maps import Layouts
from polymodal.nn.roi_align import roi_align
from polymodal.nn.spectra import spectral_norm

CROP = 32
"""The side to which crops of objects are brought (003, §6.3.3.2)."""

HALVINGS = 3
"""How often patches are halved before they are judged."""


class PatchDiscriminator(nn.Sequential):
    """A score for each patch of a picture that stands beside the maps of its layout.

    Args:
        seen: maps, those of the picture among them.
        width: maps of the first convolution; each further one doubles them.
    """

    def __init__(self, seen: int, width: int) -> None:
        widths = [seen, *(width * 2**k for k in range(HALVINGS))]
        layers: list[nn.Module] = []
        for narrow, wide in itertools.pairwise(widths):
            layers += [spectral_norm(nn.Conv2d(narrow, wide, 4, 2, 1)), nn.LeakyReLU(0.2)]
        wide = 2 * widths[-1]
        layers += [spectral_norm(nn.Conv2d(widths[-1], wide, 3, padding=1)), nn.LeakyReLU(0.2)]
        super().__init__(*layers, spectral_norm(nn.Conv2d(wide, 1, 3, padding=1)))


class PatchDiscriminators(nn.ModuleList):
    """The first sees pictures as they are, the second at half their size; they share no weights.

    Args:
        count: 1 or 2 of them.
        seen: maps, those of the picture among them.
        width: see `PatchDiscriminator`.
    """

    def __init__(self, count: int, *, seen: int, width: int) -> None:
        super().__init__(PatchDiscriminator(seen, width) for _ in range(count))

    def forward(self, seen: Float[Tensor, "b c h w"]) -> list[Float[Tensor, "b 1 k l"]]:
        """The scores of each."""
        if seen.is_cuda:
            seen = seen.contiguous(memory_format=torch.channels_last)
        scores = []
        for judge in self:
            scores.append(judge(seen))
            seen = avg_pool2d(seen, 2)
        return scores


class ObjectDiscriminator(nn.Module):
    """A crop to whether it is real and to scores of its class: AC-GAN (Odena et al., 2017).

    Args:
        classes: how many there are.
        width: maps of the first block; each further one doubles them.
    """

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        widths = [3, *(width * 2**k for k in range(4))]
        self.blocks = nn.Sequential(
            *(Halving(a, b, first=a == 3) for a, b in itertools.pairwise(widths)), nn.ReLU()
        )
        self.real = spectral_norm(nn.Linear(widths[-1], 1))
        self.classes = spectral_norm(nn.Linear(widths[-1], classes))

    def forward(
        self, crops: Float[Tensor, "n 3 h w"]
    ) -> tuple[Float[Tensor, " n"], Float[Tensor, "n k"]]:
        """How real each crop is, and the logits of its class."""
        if crops.is_cuda:
            crops = crops.contiguous(memory_format=torch.channels_last)
        features = self.blocks(crops).sum((2, 3))
        return self.real(features).squeeze(1), self.classes(features)


class Halving(nn.Module):
    """Two 3×3 convolutions and a mean of four pixels, around a shortcut with the same mean."""

    def __init__(self, narrow: int, wide: int, *, first: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Identity() if first else nn.ReLU(),
            spectral_norm(nn.Conv2d(narrow, wide, 3, padding=1)),
            nn.ReLU(),
            spectral_norm(nn.Conv2d(wide, wide, 3, padding=1)),
        )
        self.shortcut = spectral_norm(nn.Conv2d(narrow, wide, 1))

    def forward(self, maps: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h2 w2"]:
        return avg_pool2d(self.body(maps), 2) + self.shortcut(avg_pool2d(maps, 2))


def object_crops(
    pictures: Float[Tensor, "b c h w"], layouts: Layouts, side: int = CROP
) -> Float[Tensor, "n c {side} {side}"]:
    """Every object of every picture, brought to one size; those that are not there are left out."""
    crops = roi_align(pictures, layouts.boxes.to(pictures.dtype), side)
    return crops.flatten(0, 1)[layouts.objects]


@dataclass(frozen=True)
class Verdict:
    """What the discriminators make of pictures; nothing of those that there are not."""

    patches: list[Float[Tensor, "b 1 _ _"]]
    objects: Float[Tensor, " n"] | None
    classes: Float[Tensor, "n k"] | None

    def halves(self) -> "tuple[Verdict, Verdict]":
        """Of the first half of the pictures, and of the second, which have as many objects."""
        patches = [scores.chunk(2) for scores in self.patches]
        objects = (None, None) if self.objects is None else self.objects.chunk(2)
        classes = (None, None) if self.classes is None else self.classes.chunk(2)
        one, other = (
            Verdict([pair[k] for pair in patches], objects[k], classes[k]) for k in (0, 1)
        )
        return one, other


class LayoutDiscriminators(nn.Module):
    """All of them together.

    Args:
        patches: those of patches, if there are any.
        objects: that of objects, if there is one.
        augment: what is done to all that they see.
    """

    def __init__(
        self,
        patches: PatchDiscriminators | None,
        objects: ObjectDiscriminator | None,
        augment: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.patches, self.objects = patches, objects
        self.augment = augment or nn.Identity()

    def forward(
        self,
        pictures: Float[Tensor, "n 3 h w"],
        beside: Float[Tensor, "b c h w"],
        layouts: Layouts,
    ) -> Verdict:
        """What they make of pictures beside the maps of their layouts.

        Args:
            pictures: of each layout one, and after those of all layouts perhaps as many again.
            beside: maps of the layouts.
            layouts: what is where.
        """
        rounds = pictures.split(len(layouts))
        patches = self.of_patches(pictures, torch.cat([beside] * len(rounds)))
        real = classes = None
        if self.objects is not None:
            crops = torch.cat([object_crops(some, layouts) for some in rounds])
            real, classes = self.objects(self.augment(crops))
        return Verdict(patches, real, classes)

    def of_patches(
        self, pictures: Float[Tensor, "n 3 h w"], beside: Float[Tensor, "n c h w"]
    ) -> list[Float[Tensor, "n 1 _ _"]]:
        """The scores of patches alone."""
        if self.patches is None:
            return []
        scores: list[Tensor] = self.patches(self.augment(torch.cat([pictures, beside], 1)))
        return scores
