"""Encoders of pictures for scene-graph similarity: places and the whole, in one space with graphs.

The paper takes mixed_6e and the pooled features of Inception-v3, frozen (003, §6.3.1).
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import interpolate

from polymodal.base.errors import PolymodalError
from polymodal.nn.feature_networks import FeatureNetwork, network_named
from polymodal.nn.image_encoders import ConvNet
from polymodal.nn.scene_graph_similarity import PictureFeatures

LAYER = -2
"""Which of a frozen network's maps are places: the last but one, as mixed_6e is."""

STAGES = 2
"""Stages of our own convnet, whose maps are an eighth of the picture."""


def describe_pictures(name: str, width: int) -> dict[str, Any]:
    """What must be known of an encoder of this name to build its projections, as JSON."""
    if name == "convnet":
        net = ConvNet(width, STAGES)
        return {"network": name, "convnet": width, "places": width * 2**STAGES, "whole": net.dim}
    network = network_named(name)
    side = network.side
    with torch.no_grad():
        seen = network(torch.zeros(1, 3, side, side))
    if len(seen.maps) < 2:
        raise PolymodalError(
            f"{name} gives no maps, so it tells nothing of places. Give a convolutional one: convnet, "
            "efficientnet-lite0, inception-v3 or vgg-19, or a ResNet of transformers."
        )
    places, whole = seen.maps[LAYER].shape[1], seen.features.shape[1]
    return {"network": name, "places": places, "whole": whole}


class PictureEncoder(nn.Module):
    """Pictures to features of their places and of the whole, by a convnet that learns or a frozen network.

    A frozen network is no part of the weights; it is opened when it is first needed.

    Args:
        description: see `describe_pictures`.
        dim: the width of the features.
    """

    def __init__(self, description: dict[str, Any], dim: int) -> None:
        super().__init__()
        self.name: str = description["network"]
        self.convnet: ConvNet | None = None
        self.frozen: tuple[FeatureNetwork, ...] = ()
        if self.name == "convnet":
            self.convnet = ConvNet(description["convnet"], STAGES)
        self.places = nn.Linear(description["places"], dim)
        self.whole = nn.Linear(description["whole"], dim)

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> PictureFeatures:
        """Features of pixels from 0 to 255; gradients reach them."""
        if self.convnet is not None:
            maps = self.convnet.feature_map(pixels)
            whole = self.convnet.pooled(maps)
        else:
            network = self.network(pixels.device)  # whose body is as precise as what is around it
            seen = network.body(fitted(pixels, network.side))
            maps, whole = seen.maps[LAYER], seen.features
        return PictureFeatures(self.places(maps.flatten(2).mT), self.whole(whole))

    def network(self, device: torch.device) -> FeatureNetwork:
        """The frozen network, on a device."""
        if not self.frozen:
            self.frozen = (network_named(self.name),)
        if next(self.frozen[0].parameters()).device != device:
            self.frozen[0].to(device)
        return self.frozen[0]


def fitted(pixels: Float[Tensor, "b 3 h w"], side: int) -> Float[Tensor, "b 3 {side} {side}"]:
    """Pictures at the size that a network sees: 299×299 for Inception-v3 (003, B.6)."""
    return interpolate(pixels, (side, side), mode="bilinear", antialias=True)
