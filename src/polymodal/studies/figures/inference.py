"""What the figures need of a VLVAE: latents of the images of a split, and images and words of latents."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.image_texts import ImageTextBatch
from polymodal.data.records import Dataset
from polymodal.systems.vlvae.seeded import seeded
from polymodal.systems.vlvae.vlvae_module import VLVAE

SEED = 0
"""The seed of all random draws of a figure."""


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """A sample of z for each of n images with one of its texts."""

    images: UInt8[Tensor, "s 3 h w"]
    """The first of them, which are shown."""
    texts: Int[Tensor, "n t"]
    z: Float[Tensor, "n z"]


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """An image of each z, the words sampled for it, and the probability of every word at each position."""

    images: Float[Tensor, "b 3 h w"]
    texts: Int[Tensor, "b t"]
    probabilities: Float[Tensor, "b t v"]


def batches(system: VLVAE, dataset: Dataset, most: int | None = None) -> Iterator[ImageTextBatch]:
    """The first images of a split, or all, with all their texts."""
    if not len(dataset):
        raise PolymodalError("The split is empty: it has no image to show. Take another split.")
    return system.batches(dataset, len(dataset) if most is None else most)


@torch.no_grad()
def inferred(system: VLVAE, dataset: Dataset, *, shown: int, most: int | None = None) -> Inferred:
    """A sample of z from q(z|·) for the first images of a split, or for all."""
    images, texts, z = [], [], []
    with seeded(SEED, system.device):
        for batch in batches(system, dataset, most):
            texts.append(system.one_text(batch.texts))
            z.append(system.model.posterior(batch.images, texts[-1]).sample())
            images.append(batch.images[:shown])
    return Inferred(images=torch.cat(images)[:shown], texts=torch.cat(texts), z=torch.cat(z))


@torch.no_grad()
def decoded(system: VLVAE, z: Float[Tensor, "b z"]) -> Decoded:
    """The image of each z, and words sampled by their probability."""
    texts, probabilities = system.said(z, torch.Generator(system.device).manual_seed(SEED))
    return Decoded(images=system.imagined(z), texts=texts, probabilities=probabilities)
