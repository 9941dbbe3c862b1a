"""Classes as points among the features of an encoder that stands still, told by their attributes.

A class never seen has attributes as any other: its prototype is where they lead (003, §4.4.1; Snell et
al., 2017). An image is of the class whose prototype points most in the direction of its features.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from polymodal.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """How prototypes are fitted. Few steps: there are no more attribute vectors than classes, and a
    network soon knows them by heart."""

    steps: int = 100
    """Steps of Adam."""
    lr: float = 1e-3
    """Its rate."""
    batch_size: int = 512
    """Images a step."""
    hidden: int = 0
    """The width of a layer between attributes and features; 0 for a linear map."""
    scale: float = 10.0
    """What cosines are multiplied by before the softmax."""

    def __post_init__(self) -> None:
        for name in ("steps", "lr", "batch_size", "scale"):
            if not getattr(self, name) > 0:
                raise PolymodalError(f"{name} must be above 0, not {getattr(self, name)}.")
        if self.hidden < 0:
            raise PolymodalError(f"hidden must be 0 or more, not {self.hidden}.")


class Prototypes(nn.Module):
    """From class attributes to points among features."""

    def __init__(self, attributes: int, features: int, hidden: int = 0) -> None:
        super().__init__()
        layers = [nn.Linear(attributes, hidden), nn.ReLU()] if hidden else []
        self.net = nn.Sequential(*layers, nn.Linear(hidden or attributes, features))

    def forward(self, attributes: Float[Tensor, "c a"]) -> Float[Tensor, "c d"]:
        """The prototype of each class, from its ℓ2-normalised attributes (003, §4.4)."""
        found: Tensor = self.net(normalize(attributes, dim=-1))
        return found


def fitted(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    how: Fitting,
    seed: int = 0,
) -> Prototypes:
    """Prototypes of the classes that have images here, each to be nearest to its own."""
    check(features, labels, attributes)
    classes, own = labels.unique(return_inverse=True)
    with torch.random.fork_rng([features.device] if features.is_cuda else []):
        torch.manual_seed(seed)
        net = Prototypes(attributes.shape[1], features.shape[1], how.hidden).to(features.device)
        adam = torch.optim.Adam(net.parameters(), how.lr)
        for _ in range(how.steps):
            some = torch.randint(len(features), (how.batch_size,), device=features.device)
            logits = how.scale * cosines(features[some], net(attributes[classes]))
            loss = cross_entropy(logits, own[some])
            adam.zero_grad()
            loss.backward()
            adam.step()
    return net.requires_grad_(False).eval()


def ridge(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    weight: float = 1.0,
) -> Float[Tensor, "c d"]:
    """Prototypes of all classes in closed form: the linear map from attributes to the mean feature of
    each class that has images, ‖A W − M‖² + weight ‖W‖² at its least, M taken about its own mean."""
    check(features, labels, attributes)
    if not weight > 0:
        raise PolymodalError(f"The weight of a ridge must be above 0, not {weight}.")
    classes, own, counts = labels.unique(return_inverse=True, return_counts=True)
    told = normalize(attributes.double(), dim=-1)
    means = torch.zeros(len(classes), features.shape[1], dtype=torch.double, device=told.device)
    means.index_add_(0, own, features.double())
    means = means / counts[:, None]
    middle, about = means.mean(0), told[classes].mean(0)
    known = told[classes] - about
    # of two equal forms the one with the smaller square: there are fewer classes than attributes
    gram = known @ known.T + weight * torch.eye(
        len(classes), dtype=torch.double, device=told.device
    )
    found = middle + (told - about) @ known.T @ torch.linalg.solve(gram, means - middle)
    return found.to(features.dtype)


def cosines(
    features: Float[Tensor, "n d"], prototypes: Float[Tensor, "c d"]
) -> Float[Tensor, "n c"]:
    """The cosine of every image and every class."""
    return normalize(features, dim=-1) @ normalize(prototypes, dim=-1).T


def check(
    features: Float[Tensor, "n d"], labels: Int[Tensor, " n"], attributes: Float[Tensor, "c a"]
) -> None:
    """There must be classes to tell apart, known by finite numbers."""
    if len(labels.unique()) < 2:
        raise PolymodalError("Prototypes are fitted to two classes or more. Give more images.")
    for what, numbers in (("features", features), ("attributes", attributes)):
        if not numbers.isfinite().all():
            raise PolymodalError(
                f"Some {what} are not finite numbers. Mend them before fitting prototypes."
            )
