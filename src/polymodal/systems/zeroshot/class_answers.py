"""Features and most likely classes of a user's own images."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.user_images import as_pictures

BLOCK = 256
"""Number of images that are encoded at once."""

Named = list[tuple[str, float]]
"""Classes with the cosine of each, the most likely first."""


def encode(learner: Any, images: Sequence[Any]) -> Float[Tensor, "n d"]:
    """The global features of images: paths, PIL images, arrays `h w 3` of uint8, or a mix."""
    if isinstance(images, str) or not hasattr(images, "__len__"):
        raise PolymodalError("Give a list of pictures, such as ['image.png'].")
    learner.eval()
    features = [learner.see(block).whole.float() for block in blocks(learner, images)]
    return (
        torch.cat(features)
        if features
        else torch.zeros(0, learner.config.dim, device=learner.device)
    )


def blocks(learner: Any, images: Sequence[Any]) -> Iterator[Tensor]:
    """Images in the learner's size, on its device, in blocks."""
    for start in range(0, len(images), BLOCK):
        part = as_pictures(list(images[start : start + BLOCK]), learner.learned["size"])
        yield torch.from_numpy(part).permute(0, 3, 1, 2).to(learner.device)


def recognise(
    learner: Any, images: Sequence[Any], among: Sequence[str] | None = None, first: int = 5
) -> list[Named]:
    """The classes with the nearest prototypes for each image, among all classes or those of
    `among`."""
    names = learner.learned["names"]
    among = names if among is None else among
    if isinstance(among, str) or not among:
        raise PolymodalError(
            f"among is a list of one class or more, such as [{names[0]!r}], or left out for all."
        )
    for name in among:
        if name not in names:
            raise unknown("class", name, names)
    places = [names.index(name) for name in among]
    if first < 1:
        raise PolymodalError(f"first must be 1 or more, not {first}.")
    scores = learner.prototypes.scores(encode(learner, images), learner.attributes[places])
    scores, order = scores.sort(1, descending=True)
    return [
        [(names[places[k]], score) for score, k in zip(*row, strict=True)]
        for row in zip(scores[:, :first].tolist(), order[:, :first].tolist(), strict=True)
    ]
