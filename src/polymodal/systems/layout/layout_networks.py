"""The networks of OC-GAN by its settings, and what its patch discriminators see beside a picture."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.nn.diff_augment import DiffAugment
from polymodal.nn.layout_conditioning import LayoutConditioning, Part
from polymodal.nn.layout_discriminators import (
    LayoutDiscriminators,
    ObjectDiscriminator,
    PatchDiscriminators,
)
from polymodal.nn.layout_generator import LayoutGenerator
from polymodal.nn.layout_maps import Layouts, boundaries, one_hot
from polymodal.nn.layout_norms import ObjectNorm, PixelNorm


def has_boundaries(config: Any) -> bool:
    """Whether generator and discriminators are told of edges: the baselines never are."""
    return bool(config.boundaries and config.conditioning == "oc-gan")


def parts_of(config: Any) -> tuple[Part, ...]:
    """The maps of which γ and β of a pixel are made; LostGAN's are made of objects."""
    if config.conditioning == "lostgan":
        return ()
    if config.conditioning == "spade":
        return ("classes",)
    return ("embeddings", "classes", *(("boundaries",) if config.boundaries else ()))


def generator(config: Any, learned: dict[str, Any]) -> LayoutGenerator:
    """The generator of these settings."""
    conditioning = LayoutConditioning(
        classes=len(learned["classes"]),
        parts=parts_of(config),
        objects=config.conditioning != "spade",
        noise=config.object_noise,
        dim=config.object_dim,
        mask_width=config.mask_width,
        mask_side=config.mask_side,
    )

    def norm(maps: int) -> nn.Module:
        """A norm of so many maps."""
        if config.conditioning == "lostgan":
            return ObjectNorm(maps, objects=config.object_dim, momentum=config.momentum)
        told = conditioning.channels
        return PixelNorm(maps, condition=told, width=config.norm_width, momentum=config.momentum)

    return LayoutGenerator(
        size=learned["size"],
        width=config.width,
        noise=config.noise,
        conditioning=conditioning,
        norm=norm,
        momentum=config.momentum,
    )


def discriminators(config: Any, learned: dict[str, Any]) -> LayoutDiscriminators:
    """The discriminators of these settings."""
    classes = len(learned["classes"])
    seen = 3 + classes + has_boundaries(config)
    count = config.patch_discriminators
    return LayoutDiscriminators(
        patches=PatchDiscriminators(count, seen=seen, width=config.patch_width) if count else None,
        objects=ObjectDiscriminator(classes, config.object_width)
        if config.object_discriminator
        else None,
        augment=DiffAugment() if config.augment else None,
    )


def maps_beside(
    config: Any, layouts: Layouts, classes: int, size: int
) -> Float[Tensor, "b c {size} {size}"]:
    """The maps of a layout that stand beside a picture, as in SPADE: classes and edges."""
    maps = [one_hot(layouts, classes, size)]
    if has_boundaries(config):
        maps.append(boundaries(layouts, size))
    return torch.cat(maps, 1)
