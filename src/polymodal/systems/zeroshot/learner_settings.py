"""Settings of every zero-shot system, and what it needs to know of its data."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from polymodal.base.config import renamed
from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, Range, ShareBelowOne, ZeroOrMore, check_ranges
from polymodal.data.classes import classed
from polymodal.data.features import pictures_alone
from polymodal.data.records import Dataset


@dataclass(frozen=True, kw_only=True)
class Settings:
    """An encoder and its training; the defaults are the thesis's (003, A.2)."""

    encoder: Literal["basic", "alex"] = "basic"
    """Encoder after DCGAN (basic; 003, Table A.2) or AlexNet (alex; Table A.3)."""
    dim: Positive[int] = 1024
    """Dimension of the global feature."""
    slim: Positive[int] = 1
    """Divisor of the numbers of feature maps: 1 for the thesis's encoders, more for small trials."""
    local: Literal["none", "attributes", "labels"] = "none"
    """Local loss: none, class attributes (AC) or labels (LC) predicted from the local features
    (003, §4.4.1)."""
    local_weight: ZeroOrMore[float] = 1.0
    """Weight of the local loss."""
    local_hidden: ZeroOrMore[int] = 0
    """Width of a hidden layer of the local loss's classifier; 0 for a linear one."""
    local_centred: bool = False
    """AC: subtract the mean of the training classes from the class attributes, and multiply them by
    the square root of their number. Otherwise they are ℓ2-normalised only (003, §4.4)."""
    local_per_position: bool = field(default=False, metadata=renamed("local_each"))
    """Compute the local loss at each position, instead of on the mean of their logits."""
    crop: Annotated[float, Range("is a share of the side, up to 1", lambda n: 0 < n <= 1)] = 0.875
    """Side of the crop as a fraction of the image's: random in training, centred in evaluation."""
    flip: bool = False
    """Flip half of the training images horizontally."""
    lr: Positive[float] = 1e-4
    """Learning rate of Adam."""
    decay: bool = False
    """Cosine decay of the learning rate to 0."""
    dropout: ShareBelowOne[float] = 0.0
    """Dropout before each linear layer of the encoder, and before FC's classifier; 0 to below 1."""
    fit_steps: Positive[int] = 40
    """Steps of Adam that fit the prototypes; with many they overfit the training classes."""
    fit_lr: Positive[float] = 1e-3
    """Learning rate of this fit."""
    ridge: Positive[float] = 1.0
    """Weight of the ridge regression that gives the prototypes of zsl_top1_ridge."""
    calibration_factor: float = field(default=0.0, metadata=renamed("handicap"))
    """Value subtracted from the cosines of seen classes when all classes are candidates (calibrated
    stacking)."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.local_per_position and self.local == "none":
            raise PolymodalError(
                "--local-per-position is an option of the local loss: give --local attributes or --local "
                "labels too."
            )
        if self.local_centred and self.local != "attributes":
            raise PolymodalError("--local-centred is an option of --local attributes: give it too.")


def learn(config: Settings, train: Dataset) -> dict[str, Any]:
    """The image size, the class names, and the number of attributes."""
    data = pictures_alone(classed(train))
    if not len(data):
        raise PolymodalError("The training split is empty: there is nothing to learn from.")
    classes, attributes = data.attributes.shape
    return {
        "size": data.images([0]).shape[1],
        "classes": classes,
        "attributes": attributes,
        "names": list(data.classes),
    }
