"""Image encoders: uint8 pictures (or precomputed features) in, one vector an image out.

Each takes its input as the data give it, scales it as it was trained to, and says its width in `dim`.
"""

import itertools
from typing import Any

import torch
from jaxtyping import Float, Shaped, UInt8
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.pretrained import broken, building, reason, take_weights


def width(encoder: nn.Module) -> int:
    """How wide an encoder's output is, which every encoder says in `dim`."""
    dim: Any = encoder.dim
    return int(dim)


class ConvNet(nn.Module):
    """A small residual network to train from scratch; group norm, so that no image sees its batch.

    Each picture's own mean is taken off first, so that a plain ground does not drown its colours.
    The last map is kept as its largest values (what is there) and a 4×4 grid of means (where).
    """

    def __init__(self, width: int = 32, stages: int = 3, dim: int = 256) -> None:
        super().__init__()
        widths = [width * 2**i for i in range(stages + 1)]
        self.stem = nn.Conv2d(3, width, 5, stride=2, padding=2)
        self.stages = nn.Sequential(
            *(Residual(a, b) for a, b in itertools.pairwise(widths)),
            nn.GroupNorm(8, widths[-1]),
            nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Linear(17 * widths[-1], dim), nn.ReLU())
        self.dim = dim

    def feature_map(self, images: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b c k l"]:
        """The last map, before it is pooled; of bytes or, where gradients are wanted, floats to 255."""
        x = images.to(self.stem.weight.dtype)
        x = (x - x.mean((1, 2, 3), keepdim=True)) / 32
        maps: Tensor = self.stages(self.stem(x))
        return maps

    def forward(self, images: UInt8[Tensor, "b 3 h w"]) -> Float[Tensor, "b d"]:
        return self.pooled(self.feature_map(images))

    def pooled(self, maps: Float[Tensor, "b c k l"]) -> Float[Tensor, "b d"]:
        """One vector of the last map."""
        where = nn.functional.adaptive_avg_pool2d(maps, 4).flatten(1)
        features: Tensor = self.head(torch.cat([maps.amax((2, 3)), where], 1))
        return features


class Residual(nn.Module):
    """Two 3×3 convolutions around a shortcut, halving the picture."""

    def __init__(self, narrow: int, wide: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.GroupNorm(8, narrow), nn.ReLU(), nn.Conv2d(narrow, wide, 3, stride=2, padding=1),
            nn.GroupNorm(8, wide), nn.ReLU(), nn.Conv2d(wide, wide, 3, padding=1),
        )  # fmt: skip
        self.shortcut = nn.Sequential(nn.AvgPool2d(2, ceil_mode=True), nn.Conv2d(narrow, wide, 1))

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k i j"]:
        return self.body(x) + self.shortcut(x)


class Standardised(nn.Module):
    """An encoder whose output is brought to mean 0 and deviation 1, as measured on the training split.

    For features that were computed beforehand the encoder is `nn.Identity()`.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, encoder: nn.Module, dim: int) -> None:
        super().__init__()
        self.encoder, self.dim = encoder, dim
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("std", torch.ones(dim))

    def fit(self, mean: Float[Tensor, " d"], std: Float[Tensor, " d"]) -> None:
        """Take the measured moments; a feature that never varies is left at its mean."""
        self.mean.copy_(mean)
        self.std.copy_(torch.where(std > 1e-6, std, 1.0))

    def forward(self, images: Shaped[Tensor, "b ..."]) -> Float[Tensor, "b *r d"]:
        return (self.encoder(images) - self.mean) / self.std


class Frozen(nn.Sequential):
    """An encoder that is used as it is: no gradients, no dropout, no moving statistics.

    Its weights have the names that they have in `nn.Sequential(encoder)`, where they may move.
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__(encoder.requires_grad_(False).eval())
        self.dim = width(encoder)

    def train(self, mode: bool = True) -> "Frozen":
        super().train(mode)
        self[0].eval()
        return self

    def forward(self, images: Shaped[Tensor, "b ..."]) -> Float[Tensor, "b d"]:
        with torch.no_grad():
            return super().forward(images)


class Tuned(nn.Sequential):
    """An encoder that learns, but for its batch norms' moments: they stay those of its pretraining."""

    def train(self, mode: bool = True) -> "Tuned":
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.eval()
        return self


class Backbone(nn.Module):
    """An image model of transformers (ResNet, ViT, CLIP, DINOv2, …); its pooled output is the encoding."""

    mean: Tensor
    std: Tensor

    def __init__(self, description: dict[str, Any]) -> None:
        from transformers import AutoConfig, AutoModel

        super().__init__()
        self.source: str = description["source"]
        with building(self.source):
            config = AutoConfig.for_model(**description["config"])
            self.model = AutoModel.from_config(config, dtype=torch.float32)
        wide = config.hidden_sizes[-1] if hasattr(config, "hidden_sizes") else config.hidden_size
        self.dim = int(wide)
        for name in ("mean", "std"):
            scale = torch.tensor(description[name]).view(3, 1, 1)
            self.register_buffer(name, scale, persistent=False)

    def load_pretrained(self) -> None:
        """Take the weights that the model was described from."""
        take_weights(self.model, self.source)

    def scaled(self, images: UInt8[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
        """Pictures as the model was trained to see them."""
        return (images / 255 - self.mean) / self.std

    def forward(self, images: UInt8[Tensor, "b 3 h w"]) -> Float[Tensor, "b d"]:
        return self.model(pixel_values=self.scaled(images)).pooler_output.flatten(1)


def describe_backbone(source: str) -> dict[str, Any]:
    """What is needed to build the image model at a hub id or folder again without it, but its weights."""
    from transformers import AutoConfig
    from transformers.image_processing_base import ImageProcessingMixin

    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        scaling, _ = ImageProcessingMixin.get_image_processor_dict(source)
    except broken() as error:
        raise PolymodalError(
            f"No image model could be opened at {source!r}: {reason(error)}\n"
            "Give a hub id that can be reached, or a folder with config.json, model.safetensors "
            "and preprocessor_config.json."
        ) from error
    config = getattr(config, "vision_config", config)
    mean, std = (scaling.get(f"image_{name}") or [0.5] * 3 for name in ("mean", "std"))
    return {"source": source, "config": config.to_dict(), "mean": mean, "std": std}
