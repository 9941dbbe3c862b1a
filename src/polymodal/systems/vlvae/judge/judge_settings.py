"""Settings of a judge."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.ranges import Positive, Steps, Weight, check_ranges


@dataclass(frozen=True, kw_only=True)
class Config:
    """A judge; its learning rate and layers are ours, since the paper gives none."""

    words: Literal["auto", "places", "bag"] = "auto"
    """places: each position of a text has its own words; bag: their order has no meaning. auto uses
    bag if the texts differ in length."""
    width: int = 32
    """Channels of the image encoder at half the image size."""
    code: Positive[int] = 200
    """Dimension of its output."""
    hidden: Positive[int] = 400
    """Width of the layers after it."""
    place_weight: Weight[float] = 10.0
    """Weight of the squared error of the objects' positions, in units of the image side."""
    lr: Positive[float] = 1e-3
    """Maximum learning rate of Adam; it decays to 0 along a cosine."""
    warmup: Steps[int] = 500
    """Steps of linear warm-up of the learning rate; without it colours are learned late."""

    def __post_init__(self) -> None:
        check_ranges(self)
