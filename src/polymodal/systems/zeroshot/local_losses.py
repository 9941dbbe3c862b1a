"""Local losses: classes predicted from the local features (003, §4.4.1)."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn


class LocalClassifier(nn.Module):
    """Predicts the class at every position, through its attributes (AC) or directly (LC).

    The thesis does not say how the positions are combined. Here their logits are averaged, or
    with `each` compared one by one. With attributes, a position predicts a value per attribute,
    and the logit of a class is the dot product with its attributes. The classifier is linear, or
    has a hidden layer with ReLU.
    """

    def __init__(
        self,
        kind: Literal["attributes", "labels"],
        *,
        local: int,
        attributes: int,
        classes: int,
        hidden: int = 0,
        each: bool = False,
    ) -> None:
        super().__init__()
        self.kind, self.each = kind, each
        self.hidden = nn.Sequential(nn.Conv2d(local, hidden, 1), nn.ReLU()) if hidden else None
        outputs = attributes if kind == "attributes" else classes
        self.tell = nn.Conv2d(hidden or local, outputs, 1)

    def forward(
        self, local: Float[Tensor, "b c h w"], attributes: Float[Tensor, "n a"]
    ) -> Float[Tensor, "m n"]:
        """The logits of all classes, given their attributes: per image, or with `each` per
        position."""
        maps = local
        if self.hidden is not None:
            maps = self.hidden(local)
            if (
                not self.each
            ):  # the next layer is linear: a mean before it is one after it, but cheaper
                maps = maps.mean((2, 3), keepdim=True)
        scores = self.tell(maps).float()
        logits = scores.movedim(1, -1).flatten(0, 2) if self.each else scores.mean((2, 3))
        return logits @ attributes.T if self.kind == "attributes" else logits
