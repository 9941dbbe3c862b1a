"""The noise of pictures: a function of the seed and the picture's number, whatever else is drawn."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Noise:
    """What differs between pictures of one layout."""

    picture: Float[Tensor, "b z"]
    objects: Float[Tensor, "b o y"]

    def scaled(self, truncation: float) -> "Noise":
        """Nearer to its mean: 1 as in training, 0 no noise."""
        return Noise(self.picture * truncation, self.objects * truncation)

    def take(self, rows: Int[Tensor, " n"]) -> "Noise":
        """That of some pictures."""
        return Noise(self.picture[rows], self.objects[rows])

    def to(self, device: torch.device | str) -> "Noise":
        """The same on another device."""
        return Noise(self.picture.to(device), self.objects.to(device))


def seeded_noise(
    count: int, objects: int, *, seed: int, widths: tuple[int, int], first: int = 0
) -> Noise:
    """The noise of so many pictures, numbered from `first` on.

    A picture's does not depend on how many there are, nor an object's on how many come after it: a layout
    that changes a little gives a picture that changes a little.
    """
    pictures, things = [], []
    for number in range(first, first + count):
        chance = torch.Generator().manual_seed((seed * 0x9E3779B1 + number) % 2**63)
        pictures.append(torch.randn(widths[0], generator=chance))
        things.append(
            torch.stack([torch.randn(widths[1], generator=chance) for _ in range(objects)])
        )
    return Noise(torch.stack(pictures), torch.stack(things))


def random_noise(
    count: int, objects: int, *, widths: tuple[int, int], device: torch.device
) -> Noise:
    """Noise of a training step, by torch's own generator."""
    return Noise(
        torch.randn(count, widths[0], device=device),
        torch.randn(count, objects, widths[1], device=device),
    )
