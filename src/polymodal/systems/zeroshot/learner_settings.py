"""What every learner of features can be told, and what it must know of its data."""

from dataclasses import dataclass
from typing import Any, Literal

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import classed
from polymodal.data.features import pictures_alone
from polymodal.data.records import Dataset


@dataclass(frozen=True, kw_only=True)
class Settings:
    """An encoder and how it is trained; the defaults are the thesis's (003, A.2)."""

    encoder: Literal["basic", "alex"] = "basic"
    """After DCGAN (003, Table A.2) or AlexNet (Table A.3)."""
    dim: int = 1024
    """The width of the global feature."""
    slim: int = 1
    """What the numbers of maps are divided by: 1 for the thesis's encoders, more to try something."""
    local: Literal["none", "attributes", "labels"] = "none"
    """What is told from the local features beside the model's own loss: nothing, the attributes of the
    class (AC) or the class (LC; 003, §4.4.1)."""
    local_weight: float = 1.0
    """Weight of that loss."""
    local_each: bool = False
    """Compare each place with the truth by itself, and not the mean of all."""
    crop: float = 0.875
    """The side of the window that is seen, anywhere in training, the middle one in testing."""
    flip: bool = False
    """Mirror half of the pictures in training."""
    lr: float = 1e-4
    """Adam's learning rate."""
    decay: bool = False
    """Let the rate fall to nothing along a cosine."""
    dropout: float = 0.0
    """Share of the numbers left out before each of the encoder's linear layers, and before FC's labels."""
    fit_steps: int = 40
    """Steps in which prototypes are fitted; with many they know the training classes by heart."""
    fit_lr: float = 1e-3
    """Adam's rate in them."""
    ridge: float = 1.0
    """Weight of the ridge by which prototypes are found in closed form, beside the others."""
    handicap: float = 0.0
    """What cosines of seen classes lose where all classes may be named (calibrated stacking)."""

    def __post_init__(self) -> None:
        for name in ("dim", "slim", "lr", "fit_steps", "fit_lr", "ridge"):
            if not getattr(self, name) > 0:
                raise PolymodalError(f"{name} must be above 0, not {getattr(self, name)}.")
        if self.local_each and self.local == "none":
            raise PolymodalError(
                "--local-each says how the places of the local loss are compared: give --local "
                "attributes or --local labels too."
            )
        if not self.local_weight >= 0:
            raise PolymodalError(f"local_weight must be 0 or more, not {self.local_weight}.")
        if not 0 < self.crop <= 1:
            raise PolymodalError(f"crop is a share of the side, up to 1, not {self.crop}.")
        if not 0 <= self.dropout < 1:
            raise PolymodalError(f"dropout is a share, from 0 to below 1, not {self.dropout}.")


def learn(config: Settings, train: Dataset) -> dict[str, Any]:
    """The size of the pictures, the classes, and how many attributes there are."""
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
