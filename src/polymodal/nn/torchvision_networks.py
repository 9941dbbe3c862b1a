"""Inception-v3 and VGG-19 as torchvision has them, by the extra polymodal[vision].

Torchvision's Inception-v3 has other weights than the TensorFlow one of the papers' FID and Inception
score, so figures differ from theirs (003, B.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError

HALF = (0.5, 0.5, 0.5)


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """How torchvision names a network and its parts."""

    maker: str
    published: str
    """The class of its published weights."""
    last: str
    """Its last linear layer, which features go into and logits come out of."""
    maps: tuple[str, ...]
    """Layers whose maps are given, the finest first."""
    side: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    options: tuple[tuple[str, Any], ...] = ()


ARCHITECTURES = {
    "inception-v3": Architecture(
        maker="inception_v3",
        published="Inception_V3_Weights",
        last="fc",
        maps=("Conv2d_2b_3x3", "Conv2d_4a_3x3", "Mixed_5d", "Mixed_6e", "Mixed_7c"),
        side=299,
        mean=HALF,
        std=HALF,
        options=(("aux_logits", True), ("init_weights", False)),
    ),
    "vgg-19": Architecture(
        maker="vgg19",
        published="VGG19_Weights",
        last="classifier.6",
        maps=("features.3", "features.8", "features.17", "features.26", "features.35"),
        side=224,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    ),
}


class Hooked(nn.Module):
    """A network of which some layers are listened to."""

    def __init__(self, net: nn.Module, kind: Architecture) -> None:
        super().__init__()
        self.net, self.kind = net.eval(), kind

    def forward(
        self, pixels: Float[Tensor, "b 3 h w"]
    ) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b k"], Sequence[Float[Tensor, "b _ _ _"]]]:
        """Features, logits and maps of pixels from 0 to 255."""
        mean, std = (
            torch.tensor(v, device=pixels.device).view(3, 1, 1)
            for v in (self.kind.mean, self.kind.std)
        )
        heard: dict[str, tuple[Tensor, Tensor]] = {}

        def listen(name: str) -> Any:
            def keep(layer: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
                heard[name] = given[0], made

            return self.net.get_submodule(name).register_forward_hook(keep)

        handles = [listen(name) for name in (self.kind.last, *self.kind.maps)]
        try:
            self.net((pixels / 255 - mean) / std)
        finally:
            for handle in handles:
                handle.remove()
        return *heard[self.kind.last], [heard[name][1] for name in self.kind.maps]


def torchvision_network(name: str, weights: Path | None) -> Hooked:
    """A network with weights of a file, or with those that torchvision downloads."""
    kind = ARCHITECTURES[name]
    try:
        from torchvision import models
    except ImportError as error:
        raise PolymodalError(
            f"{name} needs torchvision, which is not installed. Install it with: "
            "pip install 'polymodal[vision]', or choose efficientnet-lite0 or a folder with an image "
            "model of transformers."
        ) from error
    make = getattr(models, kind.maker)
    if weights is None:
        net = make(weights=getattr(models, kind.published).IMAGENET1K_V1)
    else:
        net = make(weights=None, **dict(kind.options))
        take_file(net, Path(weights), name)
    if hasattr(net, "transform_input"):
        net.transform_input = False  # pixels are scaled here, once
    return Hooked(net, kind)


def take_file(net: nn.Module, path: Path, name: str) -> None:
    """Give a network the weights in a file, of tensors alone."""
    try:
        net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except FileNotFoundError as error:
        raise PolymodalError(f"{path}: there is no such file of weights.") from error
    except Exception as error:  # torch raises many kinds on a damaged, unsafe or unfitting file
        raise PolymodalError(
            f"{path}: these are not the weights of torchvision's {name} ({type(error).__name__}: "
            f"{str(error).splitlines()[0]}). Give a state dict as torchvision publishes it."
        ) from error
