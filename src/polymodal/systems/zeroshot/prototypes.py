"""Classes as points among the features of an encoder that stands still, told by their attributes.

A class never seen has attributes as any other: its prototype is where they lead (003, §4.4.1; Snell et
al., 2017). An image is of the class whose prototype points most in the direction of its features.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from polymodal.base.errors import PolymodalError
from polymodal.metrics.class_accuracy import top1

PARTS, TIMES, EVERY = 5, 3, 10
"""To choose a number of steps: a fifth of the classes is held out, three times, and asked about every
tenth step."""


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """How prototypes are fitted. Few steps: there are no more attribute vectors than classes, and a
    network soon knows them by heart."""

    steps: int | None = None
    """Steps of Adam; unless told, as many as recognise most of some known classes that are held out."""
    most: int = 400
    """Steps at most where they are chosen so."""
    lr: float = 1e-3
    """Its rate."""
    batch_size: int = 512
    """Images a step."""
    hidden: int = 0
    """The width of a layer between attributes and features; 0 for a linear map."""
    scale: float = 10.0
    """What cosines are multiplied by before the softmax."""

    def __post_init__(self) -> None:
        for name in ("steps", "most", "lr", "batch_size", "scale"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise PolymodalError(f"{name} must be above 0, not {value}.")
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
    steps = how.steps or best_steps(features, labels, attributes, how, seed)
    *_, net = islice(descent(features, labels, attributes, how, seed), steps)
    return net.requires_grad_(False).eval()


def descent(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    how: Fitting,
    seed: int,
) -> Iterator[Prototypes]:
    """The network after each step, without end."""
    classes, own = labels.unique(return_inverse=True)
    chance = torch.Generator(features.device).manual_seed(seed)
    with torch.random.fork_rng([features.device] if features.is_cuda else []):
        torch.manual_seed(seed)
        net = Prototypes(attributes.shape[1], features.shape[1], how.hidden).to(features.device)
    adam = torch.optim.Adam(net.parameters(), how.lr)
    while True:
        some = torch.randint(
            len(features), (how.batch_size,), generator=chance, device=features.device
        )
        with torch.enable_grad():
            logits = how.scale * cosines(features[some], net(attributes[classes]))
            loss = cross_entropy(logits, own[some])
            adam.zero_grad()
            loss.backward()
        adam.step()
        yield net


def best_steps(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    how: Fitting,
    seed: int,
) -> int:
    """After how many steps most classes are recognised that have images and are held out: a fifth of them
    at a time, in the mean of three. With too few classes to hold out two, the most."""
    classes = labels.unique()
    if len(classes) < 2 * PARTS:
        return how.most
    classes = classes[torch.randperm(len(classes), generator=torch.Generator().manual_seed(seed))]
    found = torch.zeros(how.most)
    for part in range(TIMES):
        held = torch.zeros(len(attributes), dtype=torch.bool, device=labels.device)
        held[classes[part::PARTS]] = True
        away = held[labels]
        steps = descent(features[~away], labels[~away], attributes, how, seed)
        for step, net in enumerate(islice(steps, how.most)):
            if step % EVERY == EVERY - 1:
                with torch.no_grad():
                    scores = cosines(features[away], net(attributes))
                found[step] += top1(scores, labels[away], held)
    return int(found.argmax()) + 1


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


def cosines_about(
    features: Float[Tensor, "n d"], prototypes: Float[Tensor, "c d"], known: Shaped[Tensor, " ..."]
) -> Float[Tensor, "n c"]:
    """The same seen from the middle of the known classes, given by a mask or by their places: what all
    classes share tells none of them apart."""
    middle = prototypes[known].mean(0)
    return cosines(features - middle, prototypes - middle)


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
