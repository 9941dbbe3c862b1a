"""SGSM: which picture belongs to which scene graph (003, §6.3.1).

Learns to match pictures with the positional scene graphs of their layouts, as AttnGAN's DAMSM does with
captions. Frozen, it tells `ocgan` whether a drawn picture matches its layout: --parts sgsm=RUN.
"""

from dataclasses import dataclass
from typing import Any, Literal

from polymodal.base.ranges import Eights, OneOrMore, Positive, check_ranges
from polymodal.data.records import Dataset
from polymodal.nn.scene_graph_pictures import describe_pictures
from polymodal.systems.layout.graph_matching import GraphMatching
from polymodal.systems.layout.layout_settings import LayoutSettings, learn_layouts

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(LayoutSettings):
    """Encoders of pictures and of scene graphs, and how they are compared."""

    image_encoder: str = "convnet"
    """convnet (ours, learns along), or a frozen network: inception-v3 (the paper's) or vgg-19
    (polymodal[vision]), efficientnet-lite0, or a convolutional model of transformers by hub id or folder."""
    convnet_width: Eights = 32
    """Maps of the convnet's first stage; each further one doubles them."""
    dim: Positive[int] = 256
    """Dimension of the space of pictures and graphs (003, B.6)."""
    hidden: Positive[int] = 128
    """Dimension of objects and edges within the graph encoder (sg2im)."""
    layers: OneOrMore[int] = 5
    """Graph convolutions (sg2im)."""
    relations: Literal["all", "one"] = "all"
    """Relations of a pair of objects: all of the six that hold (003, B.3), or one, as sg2im has it."""
    gamma1: Positive[float] = 5.0
    """γ₁ of the attention (003, eq. 6.3.1; AttnGAN)."""
    gamma2: Positive[float] = 5.0
    """γ₂ of the local similarity (003, eq. 6.3.2; AttnGAN)."""
    gamma3: Positive[float] = 10.0
    """γ₃ of the probabilities (003, eq. 6.3.4; AttnGAN)."""
    flips: bool = False
    """Mirror half of the pictures and layouts."""
    lr: Positive[float] = 1e-3
    """Learning rate of Adam, which falls to 0 along half a cosine."""

    def __post_init__(self) -> None:
        check_ranges(self)


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The classes and the size of the pictures, and all that the module is built of."""
    module = {
        "pictures": describe_pictures(config.image_encoder, config.convnet_width),
        "dim": config.dim,
        "hidden": config.hidden,
        "layers": config.layers,
        "relations": config.relations,
        "gammas": [config.gamma1, config.gamma2, config.gamma3],
    }
    return {**learn_layouts(config, train), "sgsm": module}


def build(config: Config, learned: dict[str, Any]) -> GraphMatching:
    """The model, given what `learn` found."""
    return GraphMatching(config, learned)
