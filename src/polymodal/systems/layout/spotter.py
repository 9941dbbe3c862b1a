"""Spotter: a small detector of objects, trained on real pictures, that judges made ones by their layouts.

The paper asked people whether pictures keep their layouts (003, §6.4.6); this counts. It follows
CenterNet (Zhou et al., 2019): see `nn/centre_points.py`.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Eights, OneOrMore, Positive, Range, Share, check_ranges
from polymodal.data.records import Dataset
from polymodal.systems.layout.layout_settings import LayoutSettings, learn_layouts
from polymodal.systems.layout.object_detector import ObjectDetector

__all__ = ["Config", "build", "learn"]

EDGE = 16
"""The sides of pictures are multiples of this."""

Stride = Annotated[int, Range("must be 2 or 4", lambda n: n in (2, 4))]


@dataclass(frozen=True, kw_only=True)
class Config(LayoutSettings):
    """A detector of objects."""

    width: Eights = 32
    """Maps at half the size; they double whenever the size is halved."""
    stride: Stride = 4
    """Pixels of a side of the places that a centre may be in: two centres in neighbouring places are
    taken for one."""
    candidates: OneOrMore[int] = 16
    """The most objects that are found in a picture."""
    threshold: Share[float] = 0.3
    """What is less sure to be a centre is no object."""
    flip: bool = True
    """Mirror pictures half the time."""
    lr: Positive[float] = 1e-3
    """Learning rate of Adam; it decays to 0 along a cosine."""

    def __post_init__(self) -> None:
        check_ranges(self)


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The classes, and the size of the pictures."""
    learned = learn_layouts(config, train)
    size = learned["size"]
    if size % EDGE:
        raise PolymodalError(
            f"The spotter takes pictures of a multiple of {EDGE} pixels a side, but the data are "
            f"{size}×{size}. Add ',size={max(round(size / EDGE), 1) * EDGE}' to --data."
        )
    return learned


def build(config: Config, learned: dict[str, Any]) -> ObjectDetector:
    """The detector of the classes that `learn` found."""
    return ObjectDetector(config, learned)
