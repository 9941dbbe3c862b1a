"""Classes from local features, so that early layers come to see what classes are made of (003, §4.4.1)."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn


class LocalClassifier(nn.Module):
    """A class told from every place, by its attributes (AC) or by its label (LC).

    The thesis does not say how the places' answers are joined: here their logits are averaged, then
    compared once, or compared one by one (`each`). By attributes, a place says how much of each it sees,
    and a class is as likely as its ℓ2-normalised attributes agree with that.
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
        """The logit of each class, whose attributes are given, by each picture, or by each of its places."""
        found = self.tell(local).float()
        told = found.movedim(1, -1).flatten(0, 2) if self.each else found.mean((2, 3))
        return told @ attributes.T if self.kind == "attributes" else told
