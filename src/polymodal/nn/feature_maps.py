"""The maps of an image model: what it makes of each place of a picture, before it pools."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.image_encoders import Backbone
from polymodal.nn.named_encoders import ANY_SIZE


def fitting_size(config: dict[str, Any], pixels: int) -> int:
    """The size that a model takes: its own, or the whole number of patches next to that of the pictures.

    >>> fitting_size({"model_type": "dinov2", "patch_size": 14, "image_size": 518}, 128)
    126
    """
    if config["model_type"] in ANY_SIZE:
        patch = int(config["patch_size"])
        return max(1, round(pixels / patch)) * patch
    return int(config.get("image_size") or pixels)


def patches(config: Any, size: int, tokens: int) -> int:
    """Patches of a side, among some tokens."""
    side = size // getattr(config, "patch_size", size)
    if side > 1 and side * side <= tokens:
        return side
    side = math.isqrt(tokens)
    if side * side == tokens:  # patches were merged on the way
        return side
    raise PolymodalError(
        f"A model gave {tokens} tokens for pictures of {size}×{size}, which are no square of patches. "
        "Wrap it in a module that gives a global feature and maps, and diagnose that from Python."
    )


class Convolutional(nn.Module):
    """The last maps of a convolutional model, and their pooled form."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, x: Float[Tensor, "b 3 h w"]
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b c side side"]]:
        outputs = self.model(pixel_values=x)
        return outputs.pooler_output.flatten(1), outputs.last_hidden_state


class Patches(nn.Module):
    """The tokens of patches as maps, and the [CLS] token or, where there is none, the pooled output."""

    def __init__(self, model: nn.Module, side: int) -> None:
        super().__init__()
        self.model, self.side = model, side

    def forward(
        self, x: Float[Tensor, "b 3 h w"]
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b c side side"]]:
        outputs = self.model(pixel_values=x)
        tokens = outputs.last_hidden_state
        ahead = tokens.shape[1] - self.side**2  # [CLS] and registers come before the patches
        local = tokens[:, ahead:].transpose(1, 2).unflatten(2, (self.side, self.side))
        return tokens[:, 0] if ahead else outputs.pooler_output, local


def with_maps(model: Any, size: int) -> Convolutional | Patches:
    """A model of transformers as one that gives its maps too, for pictures of size × size."""
    with torch.no_grad():
        zeros = torch.zeros(1, 3, size, size, device=model.device)
        last = model(pixel_values=zeros).last_hidden_state
    if last.ndim == 4:
        return Convolutional(model)
    return Patches(model, patches(model.config, size, last.shape[1]))


def maps_of(
    encoder: EfficientNetLite0 | Backbone, size: int
) -> Callable[[Shaped[Tensor, "b 3 h w"]], Float[Tensor, "b c k l"]]:
    """What gives the maps of pictures of size × size, as bytes."""
    if isinstance(encoder, EfficientNetLite0):
        return encoder.feature_map
    body = with_maps(encoder.model, size)
    return lambda images: body(encoder.scaled(images))[1]
