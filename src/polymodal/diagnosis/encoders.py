"""Encoders of any kind as all measures see them: pictures in, a global feature and maps of local ones out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn.functional import interpolate

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.receptive_fields import cell, measured
from polymodal.nn.scratch import Window
from polymodal.systems.zeroshot import Learner


@dataclass(frozen=True)
class ImageFeatures:
    """What an encoder finds in pictures: `whole` of each, and `local` of each of its places."""

    whole: Float[Tensor, "b d"]
    local: Float[Tensor, "b c side side"]


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """An image encoder that stands still."""

    look: Callable[[UInt8[Tensor, "b 3 h w"]], ImageFeatures]
    """What it finds in pictures of bytes, whose middle it takes and scales as it was trained to."""
    size: int
    """Pixels of a side of what is encoded."""
    crop: float = 1.0
    """The side of the middle window that is encoded, as a share of the picture's."""
    window: Window
    """What each place of the maps sees, in pixels of what is encoded."""
    sight: str
    """How that is known, in words."""
    device: torch.device
    """Where it computes."""
    pixels: int | None = None
    """Pixels of a side of the pictures that it takes, or nothing if it takes any."""


def as_encoder(given: Any, pixels: int) -> Encoder:
    """One of our learners, or any network that gives maps, for pictures of some pixels a side."""
    if isinstance(given, Encoder):
        return given
    if isinstance(given, Learner):
        return of_learner(given)
    if isinstance(given, nn.Module):
        return of_module(given, size=pixels)
    raise PolymodalError(
        "An encoder is a run, the folder of a transformers model, or a torch module that gives maps "
        f"of features; found {type(given).__name__}."
    )


def of_learner(learner: Learner) -> Encoder:
    """A learner's encoder, with the local features that it learned by."""
    learner.eval()

    def look(images: UInt8[Tensor, "b 3 h w"]) -> ImageFeatures:
        features = learner.see(images)
        return ImageFeatures(features.whole.float(), features.local.float())

    return Encoder(
        look=look,
        size=learner.encoder.size,
        crop=learner.crop.ratio,
        window=learner.encoder.window(),
        sight="from its layers",
        device=learner.device,
        pixels=learner.learned["size"],
    )


def of_module(
    module: nn.Module,
    *,
    size: int,
    mean: Sequence[float] = (0.5, 0.5, 0.5),
    std: Sequence[float] = (0.5, 0.5, 0.5),
    window: Window | None = None,
) -> Encoder:
    """Any network that gives maps of features, or a global feature and maps; put into evaluation mode.

    Without a global feature of its own, that is the mean of the maps over places. Without `window`, what
    a place sees is measured; where each sees all, it stands for its share of the picture.

    Args:
        module: what takes pictures of floats [b, 3, size, size].
        size: pixels of a side of what it takes; pictures of another size are resized.
        mean: what is taken off each colour, bytes lying between 0 and 1.
        std: what each is divided by then.
        window: what a place sees.
    """
    device = next((weight.device for weight in module.parameters()), torch.device("cpu"))
    shift, scale = (torch.tensor(some, device=device).view(3, 1, 1) for some in (mean, std))
    module.eval()

    def look(images: UInt8[Tensor, "b 3 h w"]) -> ImageFeatures:
        x = images.float() / 255
        if x.shape[-1] != size:
            x = interpolate(x, (size, size), mode="bilinear", antialias=True).clamp(0, 1)
        return looked(module((x - shift) / scale))

    with torch.no_grad():
        places = look(torch.zeros(1, 3, size, size, dtype=torch.uint8, device=device)).local
    sight = "as given"
    if window is None:
        window, sight = measured(Maps(module), size), "measured"
    if window is None:
        window = cell(size, places.shape[-1])
        sight = "its own share of the picture, by convention: each sees all of it"
    return Encoder(look=look, size=size, window=window, sight=sight, device=device)


class Maps(nn.Module):
    """The maps of a network alone."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b c side side"]:
        return looked(self.network(x)).local


def looked(given: Any) -> ImageFeatures:
    """What a network gave: maps, or a global feature and maps, as a pair or as `whole` and `local`."""
    if hasattr(given, "whole") and hasattr(given, "local"):
        given = given.whole, given.local
    if isinstance(given, Tensor):
        given = given.mean((2, 3)) if given.ndim == 4 else None, given
    match given:
        case [Tensor(ndim=2) as whole, Tensor(ndim=4) as local] if (
            local.shape[2] == local.shape[3] and local.shape[2] > 1
        ):
            return ImageFeatures(whole.float(), local.float())
    raise PolymodalError(
        "An encoder gives maps of features [images, features, side, side], or a global feature "
        f"[images, features] and such maps; found {shape(given)}. Leave out the layers after the maps, "
        "or wrap the network in one that gives both."
    )


def shape(given: Any) -> str:
    """What something is, in words.

    >>> shape((None, torch.zeros(2, 5)))
    'a tensor of shape (2, 5)'
    """
    if isinstance(given, Tensor):
        return f"a tensor of shape {tuple(given.shape)}"
    if isinstance(given, tuple | list):
        return " and ".join(shape(part) for part in given if part is not None)
    return type(given).__name__
