"""Image models of transformers as encoders: a folder or hub id, convolutional or of patches."""

import math
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.encoders import Encoder, of_module
from polymodal.diagnosis.windows import cell
from polymodal.nn.image_encoders import Backbone, describe_backbone
from polymodal.nn.named_encoders import ANY_SIZE


def of_backbone(source: str, pixels: int, device: torch.device) -> Encoder:
    """The model at a hub id or folder, for pictures of some pixels a side.

    Pictures are brought to the size that it was trained at, where it has one. Attention lets every token
    see all patches: by convention it stands for its own.
    """
    description = describe_backbone(source)
    backbone = Backbone(description)
    backbone.load_pretrained()
    size = fitting_size(description["config"], pixels)
    model = backbone.model.eval().to(device)
    scaling = {"size": size, "mean": description["mean"], "std": description["std"]}
    with torch.no_grad():
        last = model(pixel_values=torch.zeros(1, 3, size, size, device=device)).last_hidden_state
    if last.ndim == 4:
        return of_module(Convolutional(model), **scaling)
    side = patches(model.config, size, last.shape[1])
    found = of_module(Patches(model, side), **scaling, window=cell(size, side))
    return replace(found, sight="its patch, by convention")


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
        found = self.model(pixel_values=x)
        return found.pooler_output.flatten(1), found.last_hidden_state


class Patches(nn.Module):
    """The tokens of patches as maps, and the [CLS] token or, where there is none, the pooled output."""

    def __init__(self, model: nn.Module, side: int) -> None:
        super().__init__()
        self.model, self.side = model, side

    def forward(
        self, x: Float[Tensor, "b 3 h w"]
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b c side side"]]:
        found = self.model(pixel_values=x)
        tokens = found.last_hidden_state
        ahead = tokens.shape[1] - self.side**2  # [CLS] and registers come before the patches
        local = tokens[:, ahead:].transpose(1, 2).unflatten(2, (self.side, self.side))
        return tokens[:, 0] if ahead else found.pooler_output, local
