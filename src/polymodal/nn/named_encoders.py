"""Encoders by name: a description that can be kept with a run, and the module built from it."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError, unknown
from polymodal.nn.caption_encoders import FrozenText
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.image_encoders import (
    Backbone,
    ConvNet,
    Frozen,
    Standardised,
    Tuned,
    describe_backbone,
)
from polymodal.nn.pretrained import load_model
from polymodal.nn.text_models import describe_text_model

ANY_SIZE = ("dinov2", "dinov2_with_registers", "dinov3_vit")
"""Models whose places are interpolated: they take pictures of any whole number of patches."""


def describe(name: str, size: int) -> dict[str, Any]:
    """All that `image_encoder` must know of an encoder, as JSON, so that a run needs nothing else."""
    if name in ("convnet", "efficientnet-lite0"):
        return {"kind": name}
    if not is_source(name):
        known = ["convnet", "efficientnet-lite0", "ORG/MODEL", "a folder"]
        raise unknown("image encoder", name, known)
    backbone = describe_backbone(name)
    check_size(name, backbone["config"], size)
    return {"kind": "transformers", **backbone}


def describe_text(name: str) -> dict[str, Any]:
    """All that `FrozenText` and its tokens need to know, as JSON."""
    if not is_source(name):
        raise unknown("text encoder", name, ["gru", "ORG/MODEL", "a folder"])
    return {"kind": "transformers", **describe_text_model(name)}


def is_source(name: str) -> bool:
    """Whether a name can be that of a transformers model: a folder, or a hub id."""
    return Path(name).is_dir() or "/" in name


def check_size(name: str, config: dict[str, Any], size: int) -> None:
    """Refuse pictures of a size that a model does not take."""
    if config["model_type"] in ANY_SIZE:
        patch = config["patch_size"]
        if size % patch:
            raise PolymodalError(
                f"{name} takes pictures of a multiple of {patch} pixels a side, but the data are "
                f"{size}×{size}. Add ',size={max(round(size / patch), 1) * patch}' to --data."
            )
        return
    expected = config.get("image_size", size)
    if expected != size:
        raise PolymodalError(
            f"{name} takes pictures of {expected}×{expected}, but the data are {size}×{size}. "
            f"Add ',size={expected}' to --data."
        )


def image_encoder(
    description: dict[str, Any], *, width: int, finetune: bool, freeze_norm: bool = False
) -> nn.Module:
    """The encoder of a description, its weights not yet loaded."""
    kind = description["kind"]
    if kind == "convnet":
        return ConvNet(width)
    if kind == "features":
        return Standardised(nn.Identity(), description["dim"])
    encoder = EfficientNetLite0() if kind == "efficientnet-lite0" else Backbone(description)
    if not finetune:
        return Standardised(Frozen(encoder), encoder.dim)
    return Standardised((Tuned if freeze_norm else nn.Sequential)(encoder), encoder.dim)


def load_pretrained(encoder: nn.Module) -> None:
    """Give every pretrained part of an encoder the weights that it was trained to elsewhere."""
    for module in encoder.modules():
        if isinstance(module, EfficientNetLite0 | Backbone | FrozenText):
            module.load_pretrained()


def own_projection(source: str, side: Literal["visual", "text"]) -> Float[Tensor, "d e"]:
    """The map from a model's pooled output to its own joint space: CLIP's projection; SigLIP has none,
    so there it is the identity."""
    from transformers import AutoModel

    model = load_model(AutoModel, source, dtype=torch.float32)
    layer = getattr(model, f"{side}_projection", None)
    if layer is not None:
        return layer.weight.detach()
    if not (hasattr(model, "text_model") and hasattr(model, "vision_model")):
        raise PolymodalError(
            f"{source!r} has no joint space of images and texts to begin from. Leave out "
            "--own-embeddings, or give a whole CLIP or SigLIP."
        )
    return torch.eye(model.config.text_config.hidden_size)


@lru_cache(maxsize=2)
def extractor(name: str, size: int) -> nn.Module:
    """The encoder that made precomputed features, for pictures that come later."""
    if name == "convnet":
        raise PolymodalError(
            "convnet is trained from scratch, so it has no features to give. Choose a pretrained "
            "encoder, such as efficientnet-lite0."
        )
    encoder = image_encoder(describe(name, size), width=0, finetune=False)
    load_pretrained(encoder)
    return encoder.eval()
