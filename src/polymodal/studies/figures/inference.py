"""What a figure asks of a VLVAE: latents for the images of a split, and pictures and words for latents."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.image_texts import SayingBatch
from polymodal.data.records import Dataset
from polymodal.systems.vlvae.seeded import seeded
from polymodal.systems.vlvae.vlvae_module import VLVAE

SEED = 0
"""What every draw of a figure comes from."""


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """A draw of z for n images, each with one of its texts."""

    images: UInt8[Tensor, "s 3 h w"]
    """The first of them, which are shown."""
    texts: Int[Tensor, "n t"]
    z: Float[Tensor, "n z"]


@dataclass(frozen=True, kw_only=True)
class Told:
    """A picture of each z, the words drawn for it, and how likely every word was at each place."""

    pictures: Float[Tensor, "b 3 h w"]
    texts: Int[Tensor, "b t"]
    chances: Float[Tensor, "b t v"]


def batches(system: VLVAE, dataset: Dataset, most: int | None = None) -> Iterator[SayingBatch]:
    """The first images of a split, or all, with all that is said of them."""
    if not len(dataset):
        raise PolymodalError("The split is empty: it has no image to show. Take another split.")
    return system.batches(dataset, len(dataset) if most is None else most)


@torch.no_grad()
def inferred(system: VLVAE, dataset: Dataset, *, shown: int, most: int | None = None) -> Inferred:
    """A draw of z from q(z|·) for the first images of a split, or for all."""
    images, texts, z = [], [], []
    with seeded(SEED, system.device):
        for batch in batches(system, dataset, most):
            texts.append(system.one_text(batch.texts))
            z.append(system.model.posterior(batch.images, texts[-1]).sample())
            images.append(batch.images[:shown])
    return Inferred(images=torch.cat(images)[:shown], texts=torch.cat(texts), z=torch.cat(z))


@torch.no_grad()
def told(system: VLVAE, z: Float[Tensor, "b z"]) -> Told:
    """What the model shows and says of each z, the words drawn by their probability."""
    texts, chances = system.said(z, torch.Generator(system.device).manual_seed(SEED))
    return Told(pictures=system.imagined(z), texts=texts, chances=chances)
