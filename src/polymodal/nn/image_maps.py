"""Image encoders that give their maps: local features of each place, to be trained on."""

from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.image_encoders import Backbone, ConvNet, Tuned
from polymodal.nn.named_encoders import load_pretrained


class ImageMaps(nn.Module):
    """The last maps of an encoder, all of whose weights move but the moments of its batch norms."""

    def __init__(self, description: dict[str, Any], width: int) -> None:
        super().__init__()
        net: nn.Module
        if description["kind"] == "convnet":
            net, self.dim = ConvNet(width), 8 * width
            net.head = nn.Sequential()
        elif description["kind"] == "efficientnet-lite0":
            net, self.dim = EfficientNetLite0(), EfficientNetLite0.dim
            net.classifier.requires_grad_(False)
        else:
            net = Backbone(description)
            if not hasattr(net.model.config, "hidden_sizes"):
                raise PolymodalError(
                    f"{description['source']} is no convolutional model, so it has no maps. Give a "
                    "ResNet or the like, efficientnet-lite0 or convnet."
                )
            self.dim = net.dim
        self.net = Tuned(net)

    def load_pretrained(self) -> None:
        """Take the weights that the encoder was trained to elsewhere, if there are any."""
        load_pretrained(self.net)

    def forward(self, images: UInt8[Tensor, "b 3 h w"]) -> Float[Tensor, "b c k l"]:
        """The maps of pictures as bytes."""
        own: Any = self.net[0]
        if isinstance(own, Backbone):
            found: Tensor = own.model(pixel_values=own.scaled(images)).last_hidden_state
        else:
            found = own.feature_map(images)
        return found


class BilinearEmbedding(nn.Module):
    """P (U x ∘ V y): a bilinear embedding of low rank (Kim et al., 2017), the global feature of both."""

    def __init__(self, left: int, right: int, dim: int) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(left, dim), nn.Linear(right, dim)
        self.joined = nn.Linear(dim, dim)
        self.dim = dim

    def forward(
        self, left: Float[Tensor, "b c"], right: Float[Tensor, "b e"]
    ) -> Float[Tensor, "b d"]:
        found: Tensor = self.joined(torch.tanh(self.left(left)) * torch.tanh(self.right(right)))
        return found
