"""Settings of a judge."""

import math
from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Config:
    """A judge; its learning rate and layers are ours, since the paper gives none."""

    words: Literal["auto", "places", "bag"] = "auto"
    """places: each position of a text has its own words; bag: their order has no meaning. auto uses
    bag if the texts differ in length."""
    width: int = 32
    """Channels of the image encoder at half the image size."""
    code: int = 200
    """Dimension of its output."""
    hidden: int = 400
    """Width of the layers after it."""
    place_weight: float = 10.0
    """Weight of the squared error of the objects' positions, in units of the image side."""
    lr: float = 1e-3
    """Maximum learning rate of Adam; it decays to 0 along a cosine."""
    warmup: int = 500
    """Steps of linear warm-up of the learning rate; without it colours are learned late."""

    def __post_init__(self) -> None:
        for name in ("code", "hidden", "lr"):
            if not 0 < getattr(self, name) < math.inf:
                raise PolymodalError(f"{name} must be above 0, not {getattr(self, name)}.")
        if not 0 <= self.place_weight < math.inf:
            raise PolymodalError(f"place_weight is a weight, 0 or more, not {self.place_weight}.")
        if self.warmup < 0:
            raise PolymodalError(f"warmup is a number of steps, 0 or more, not {self.warmup}.")
