"""Image encoders by name: a description that can be kept with a run, and the module built from it."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import nn

from polymodal.errors import PolymodalError, unknown
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.images import Backbone, ConvNet, Frozen, Standardised, describe_backbone


def describe(name: str, size: int) -> dict[str, Any]:
    """All that `image_encoder` must know of an encoder, as JSON, so that a run needs nothing else."""
    if name in ("convnet", "efficientnet-lite0"):
        return {"kind": name}
    if not (Path(name).is_dir() or "/" in name):
        known = ["convnet", "efficientnet-lite0", "ORG/MODEL", "a folder"]
        raise unknown("image encoder", name, known)
    backbone = describe_backbone(name)
    expected = backbone["config"].get("image_size", size)
    if expected != size:
        raise PolymodalError(
            f"{name} takes pictures of {expected}×{expected}, but the data are {size}×{size}. "
            f"Add ',size={expected}' to --data."
        )
    return {"kind": "transformers", **backbone}


def image_encoder(description: dict[str, Any], *, width: int, finetune: bool) -> nn.Module:
    """The encoder of a description, its weights not yet loaded."""
    kind = description["kind"]
    if kind == "convnet":
        return ConvNet(width)
    if kind == "features":
        return Standardised(nn.Identity(), description["dim"])
    encoder = EfficientNetLite0() if kind == "efficientnet-lite0" else Backbone(description)
    return Standardised(nn.Sequential(encoder) if finetune else Frozen(encoder), encoder.dim)


def load_pretrained(encoder: nn.Module) -> None:
    """Give every pretrained part of an encoder the weights that it was trained to elsewhere."""
    for module in encoder.modules():
        if isinstance(module, Backbone | EfficientNetLite0):
            module.load_pretrained()


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
