"""OC-GAN: pictures from layouts, boxes with classes (003, ch. 6).

A residual generator, told of a layout at every pixel, against discriminators of patches and of objects;
a frozen scene-graph similarity module (`polymodal train sgsm`, then --parts sgsm=RUN) and a perceptual
loss help it. LostGAN's and SPADE's conditioning are settings. For what is lost in the text of the paper,
the defaults are those of the papers that it is after.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, Range, ShareBelowOne, Weight, check_ranges
from polymodal.data.records import Dataset
from polymodal.nn.layout_generator import check_size
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.systems.layout.layout_settings import LayoutSettings, learn_layouts

__all__ = ["Config", "build", "learn"]

MaskSide = Annotated[int, Range("must be 8, 16 or 32", lambda n: n in (8, 16, 32))]
UpToTwo = Annotated[int, Range("must be 0, 1 or 2", lambda n: n in (0, 1, 2))]


@dataclass(frozen=True, kw_only=True)
class Config(LayoutSettings):
    """Generator, discriminators, losses and their weights."""

    conditioning: Literal["oc-gan", "lostgan", "spade"] = "oc-gan"
    """What the norms are told: oc-gan masked object embeddings, classes and edges at each pixel; lostgan
    γ and β of each object, placed by its mask; spade classes at each pixel."""
    boundaries: bool = True
    """Tell generator and discriminators of oc-gan the edges of all boxes."""
    width: Positive[int] = 64
    """Maps of the generator's last block; each before it has twice as many, up to 16 times (LostGAN)."""
    norm_width: Positive[int] = 128
    """Maps between the two convolutions of a norm (SPADE)."""
    momentum: ShareBelowOne[float] = 0.1
    """How much of a batch's moments the kept ones of a batch norm take."""
    noise: Positive[int] = 128
    """Numbers of noise of a picture (LostGAN)."""
    object_noise: Positive[int] = 128
    """Numbers of noise of an object (LostGAN)."""
    object_dim: Positive[int] = 128
    """Dimension of an object's embedding."""
    mask_width: Positive[int] = 64
    """Maps of the mask net; LostGAN has 256."""
    mask_side: MaskSide = 16
    """Side of an object's mask (LostGAN)."""
    patch_discriminators: UpToTwo = 2
    """How many: the first sees the pictures, the second half their size."""
    patch_width: Positive[int] = 64
    """Maps of the first convolution of a patch discriminator (SPADE)."""
    object_discriminator: bool = True
    """Judge the crops of objects, and their classes."""
    object_width: Positive[int] = 64
    """Maps of the first block of the object discriminator (LostGAN)."""
    lambda_p: Weight[float] = 2.0
    """Weight of the perceptual loss (003, §6.3.4)."""
    lambda_o: Weight[float] = 1.0
    """Weight of the object discriminator's own loss."""
    lambda_ac: Weight[float] = 1.0
    """Weight of what the object discriminator tells the generator."""
    lambda_sgsm: Weight[float | None] = None
    """Weight of the scene-graph similarity loss; by default 1 with --parts sgsm=RUN, 0 without it."""
    perceptual: str = "efficientnet-lite0"
    """The network of the perceptual loss: efficientnet-lite0, vgg-19 (the paper's; polymodal[vision]), or a
    convolutional model of transformers by hub id or folder."""
    perceptual_weights: str | None = None
    """A file of that network's weights, instead of those that come with it."""
    r1: Weight[float] = 0.0
    """Weight of the R1 penalty on the patch discriminators, at every 16th step; 0 for none."""
    augment: bool = False
    """Show discriminators pictures with changed colours, moved and cut (DiffAugment); for small data."""
    flips: bool = False
    """Mirror half of the pictures and layouts."""
    ema: ShareBelowOne[float] = 0.999
    """How much the averaged generator, which draws all pictures that are shown, keeps at each step."""
    lr: Positive[float] = 1e-4
    """Learning rate of Adam, for generator and discriminators; its betas are 0.5 and 0.999."""
    measured_by: str = "efficientnet-lite0"
    """The feature network of FID and SceneFID: efficientnet-lite0, inception-v3 (polymodal[vision]), or an
    image model of transformers by hub id or folder."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not self.patch_discriminators and not self.object_discriminator:
            raise PolymodalError(
                "--patch-discriminators 0 and --no-object-discriminator leave nothing to learn from. "
                "Keep one of them."
            )
        if self.r1 and not self.patch_discriminators:
            raise PolymodalError(
                "--r1 is of patch discriminators, of which there are none. Leave it out."
            )


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The classes, and the size of the pictures, for which there must be a generator."""
    learned = learn_layouts(config, train)
    check_size(learned["size"])
    return learned


def build(config: Config, learned: dict[str, Any]) -> LayoutGAN:
    """The model, given what `learn` found."""
    return LayoutGAN(config, learned)
