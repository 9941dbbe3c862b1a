"""Local losses: classes predicted from the local features (003, §4.4.1)."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn


class LocalClassifier(nn.Module):
    """Predicts the class at every position, through its attributes (AC) or directly (LC).

    The thesis does not say how the positions are combined. Here their logits are averaged, or
    with `each` compared one by one. With attributes, a position predicts a value per attribute,
    and the logit of a class is the dot product with its ℓ2-normalised attributes.
    """

    def __init__(
        self,
        kind: Literal["attributes", "labels"],
        *,
        local: int,
        attributes: int,
        classes: int,
        each: bool = False,
    ) -> None:
        super().__init__()
        self.kind, self.each = kind, each
        self.tell = nn.Conv2d(local, attributes if kind == "attributes" else classes, 1)

    def forward(
        self, local: Float[Tensor, "b c h w"], attributes: Float[Tensor, "n a"]
    ) -> Float[Tensor, "m n"]:
        """The logits of all classes, given their attributes: per image, or with `each` per
        position."""
        found = self.tell(local).float()
        logits = found.movedim(1, -1).flatten(0, 2) if self.each else found.mean((2, 3))
        return logits @ attributes.T if self.kind == "attributes" else logits
