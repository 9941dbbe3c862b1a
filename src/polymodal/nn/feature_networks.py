"""Feature networks of measures: pictures as bytes in; features, maps and class logits out.

Whichever network it is, it sees pictures by one rule of resizing, and says in a fingerprint what a
figure that was measured with it depends on.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError, unknown
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.feature_maps import fitting_size
from polymodal.nn.image_encoders import Backbone, describe_backbone
from polymodal.nn.named_encoders import is_source
from polymodal.nn.picture_crops import CUT, RULE, crops, full_precision, resized
from polymodal.nn.torchvision_networks import ARCHITECTURES, Hooked, torchvision_network

SIDE = 224
"""Pixels of a side where a network has no size of its own."""

LITE_MAPS = (0, 2, 4, 10, 15)
"""The last block of EfficientNet-Lite0 at each size of maps, from a half of a picture's to a 32nd."""


@dataclass(frozen=True)
class Seen:
    """What a network makes of pictures: features, and what else it has."""

    features: Float[Tensor, "b d"]
    logits: Float[Tensor, "b k"] | None = None
    maps: Sequence[Float[Tensor, "b _ _ _"]] = ()
    """Of several layers, the finest first."""


class FeatureNetwork(nn.Module):
    """A network that measures look through; it stays as it is.

    Args:
        body: takes pixels from 0 to 255, float b 3 side side, and gives `Seen`, or features alone.
        name: what it is called in a protocol.
        side: pixels of a side that it sees.
        layer: what its features are, in words.
    """

    def __init__(self, body: nn.Module, *, name: str, side: int, layer: str) -> None:
        super().__init__()
        self.body = body.requires_grad_(False).eval()
        self.name, self.side, self.layer = name, side, layer

    def train(self, mode: bool = True) -> "FeatureNetwork":
        """Stay in evaluation mode."""
        return super().train(False)

    def forward(self, pixels: Float[Tensor, "b 3 side side"]) -> Seen:
        """What it makes of pixels from 0 to 255 at its own size, in float32; gradients reach them. A loss
        that is to be as fast as the training around it calls `body`."""
        with full_precision(pixels.device):
            seen: Seen | Tensor = self.body(pixels)
        return Seen(seen) if isinstance(seen, Tensor) else seen

    @torch.no_grad()
    def see(self, pictures: UInt8[Tensor, "b h w 3"]) -> Seen:
        """What it makes of whole pictures."""
        return self(resized(pictures, self.side))

    @torch.no_grad()
    def see_crops(
        self,
        pictures: UInt8[Tensor, "b h w 3"],
        boxes: Float[Tensor, "n 4"],
        owner: Int[Tensor, " n"],
    ) -> Seen:
        """What it makes of parts of pictures: see `picture_crops.crops`."""
        return self(crops(pictures, boxes, owner, self.side))

    @cached_property
    def weights_hash(self) -> str:
        """A hash of all its weights."""
        digest = hashlib.sha256()
        for name, value in sorted(self.body.state_dict().items()):
            digest.update(name.encode())
            digest.update(value.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()[:16]

    def fingerprint(self) -> dict[str, Any]:
        """What its features depend on: two figures are compared only where this is the same."""
        return {
            "network": self.name,
            "weights": self.weights_hash,
            "layer": self.layer,
            "side": self.side,
            "resize": RULE,
            "crops": CUT,
        }


class Lite0(nn.Module):
    """EfficientNet-Lite0 with its maps."""

    def __init__(self, net: EfficientNetLite0) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> Seen:
        x, maps = self.net.stem(self.net.preprocess(pixels)), []
        for number, block in enumerate(self.net.blocks):
            x = block(x)
            if number in LITE_MAPS:
                maps.append(x)
        features = self.net.head(x).mean((2, 3))
        return Seen(features, self.net.classifier(features), maps)


class HookedFeatures(nn.Module):
    """A network of torchvision's with its maps."""

    def __init__(self, hooked: Hooked) -> None:
        super().__init__()
        self.hooked = hooked

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> Seen:
        return Seen(*self.hooked(pixels))


class Pooled(nn.Module):
    """An image model of transformers, with maps where it is convolutional."""

    def __init__(self, net: Backbone) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> Seen:
        scaled = (pixels / 255 - self.net.mean) / self.net.std
        told = self.net.model(pixel_values=scaled, output_hidden_states=True)
        maps = [layer for layer in told.hidden_states if layer.ndim == 4]
        return Seen(told.pooler_output.flatten(1), None, maps)


def network_named(name: str, weights: Path | None = None) -> FeatureNetwork:
    """A feature network by name, with trained weights.

    Args:
        name: efficientnet-lite0, inception-v3, vgg-19, or an image model of transformers by hub id or
            folder.
        weights: a file of them on this machine; by default those that come with the network.
    """
    if name == "efficientnet-lite0":
        body: nn.Module = Lite0(EfficientNetLite0.pretrained(weights))
        return FeatureNetwork(body, name=name, side=SIDE, layer="pooled, before the classifier")
    if name in ARCHITECTURES:
        body = HookedFeatures(torchvision_network(name, weights))
        side, last = ARCHITECTURES[name].side, ARCHITECTURES[name].last
        return FeatureNetwork(body, name=name, side=side, layer=f"what goes into {last}")
    if not is_source(name):
        known = ["efficientnet-lite0", *ARCHITECTURES, "ORG/MODEL", "a folder"]
        raise unknown("feature network", name, known)
    if weights is not None:
        raise PolymodalError(
            f"{name} is a model of transformers, whose weights are in its own folder: give no file of "
            f"weights beside it, but {weights} was given."
        )
    description = describe_backbone(name)
    backbone = Backbone(description)
    backbone.load_pretrained()
    side = fitting_size(description["config"], SIDE)
    return FeatureNetwork(Pooled(backbone), name=Path(name).name, side=side, layer="pooled output")
