"""What a judge can be told."""

import math
from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Config:
    """A judge; its rate and layers are ours, since the paper gives none."""

    words: Literal["auto", "places", "bag"] = "auto"
    """Whether each place of a text has words of its own or their order means nothing; auto takes a
    bag where some texts are shorter than others."""
    width: int = 32
    """Maps of the image encoder where the picture is half its size."""
    code: int = 200
    """The width of its output."""
    hidden: int = 400
    """The width of the layers after it."""
    place_weight: float = 10.0
    """Weight of the squared error of the objects' places, in sides of the picture."""
    lr: float = 1e-3
    """Adam's learning rate at its highest; it falls to nothing along a cosine."""
    warmup: int = 500
    """Steps over which the rate rises first; without them colours are learned late."""

    def __post_init__(self) -> None:
        for name in ("code", "hidden", "lr"):
            if not 0 < getattr(self, name) < math.inf:
                raise PolymodalError(f"{name} must be above 0, not {getattr(self, name)}.")
        if not 0 <= self.place_weight < math.inf:
            raise PolymodalError(f"place_weight is a weight, 0 or more, not {self.place_weight}.")
        if self.warmup < 0:
            raise PolymodalError(f"warmup is a number of steps, 0 or more, not {self.warmup}.")
