"""Classes as points among the features of an encoder that stands still, told by their attributes.

A class never seen has attributes as any other: its prototype is where they lead (003, §4.4.1; Snell et
al., 2017). An image is of the class whose prototype points most in the direction of its features.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, ZeroOrMore, check_ranges
from polymodal.metrics.class_accuracy import top1

PARTS, TIMES, EVERY = 5, 3, 10
"""To choose the number of steps, a fifth of the classes is held out, three times, and evaluated at
every tenth step."""


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """How prototypes are fitted. Use few steps: there are no more attribute vectors than classes,
    so a network soon memorises them."""

    steps: Positive[int | None] = None
    """Steps of Adam; by default the number that is best for held-out classes."""
    most: Positive[int] = 400
    """Maximum number of steps if it is chosen so."""
    lr: Positive[float] = 1e-3
    """Learning rate of Adam."""
    batch_size: Positive[int] = 512
    """Images per step."""
    hidden: ZeroOrMore[int] = 0
    """Width of a hidden layer between attributes and features; 0 for a linear map."""
    scale: Positive[float] = 10.0
    """Factor on the cosines before the softmax."""
    learn_scale: bool = False
    """Learn this factor, from `scale` on."""
    decay: ZeroOrMore[float] = 0.0
    """Weight decay (ℓ2 penalty)."""
    centred: bool = False
    """Subtract the mean over the training images from features, and that over their classes from
    attributes."""

    def __post_init__(self) -> None:
        check_ranges(self)


class Prototypes(nn.Module):
    """A network from class attributes to prototypes in feature space.

    With `centred`, attributes and features are taken relative to the means that `centre` was given.
    """

    attribute_mean: Float[Tensor, " a"]
    feature_mean: Float[Tensor, " d"]

    def __init__(
        self, attributes: int, features: int, hidden: int = 0, centred: bool = False
    ) -> None:
        super().__init__()
        self.centred = centred
        if centred:
            self.register_buffer("attribute_mean", torch.zeros(attributes))
            self.register_buffer("feature_mean", torch.zeros(features))
        layers = [nn.Linear(attributes, hidden), nn.ReLU()] if hidden else []
        self.net = nn.Sequential(*layers, nn.Linear(hidden or attributes, features))

    def forward(self, attributes: Float[Tensor, "c a"]) -> Float[Tensor, "c d"]:
        """The prototype of each class, from its ℓ2-normalised attributes (003, §4.4)."""
        inputs = normalize(attributes, dim=-1)
        if self.centred:
            inputs = inputs.shape[1] ** 0.5 * (inputs - self.attribute_mean)
        prototypes: Tensor = self.net(inputs)
        return prototypes

    def scores(
        self, features: Float[Tensor, "n d"], attributes: Float[Tensor, "c a"]
    ) -> Float[Tensor, "n c"]:
        """The cosine of every image with the prototype of every class."""
        if self.centred:
            features = features - self.feature_mean
        return cosines(features, self(attributes))

    def centre(self, attributes: Float[Tensor, "k a"], features: Float[Tensor, "n d"]) -> None:
        """Set the means, of the training classes' attributes and of the training images' features."""
        self.attribute_mean.copy_(normalize(attributes, dim=-1).mean(0))
        self.feature_mean.copy_(features.mean(0))


def fitted(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    how: Fitting,
    seed: int = 0,
) -> Prototypes:
    """Prototypes fitted by cross-entropy to the classes that have images here."""
    check_features(features, labels, attributes)
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
    """The network after each step of Adam, without end."""
    classes, place = labels.unique(return_inverse=True)
    chance = torch.Generator(features.device).manual_seed(seed)
    with torch.random.fork_rng([features.device] if features.is_cuda else []):
        torch.manual_seed(seed)
        net = Prototypes(attributes.shape[1], features.shape[1], how.hidden, how.centred)
        net = net.to(features.device)
    if how.centred:
        net.centre(attributes[classes], features)
    log_scale = torch.tensor(math.log(how.scale), device=features.device)
    log_scale.requires_grad_(how.learn_scale)
    parameters = [{"params": list(net.parameters()), "weight_decay": how.decay}]
    if how.learn_scale:
        parameters.append({"params": [log_scale]})
    adam = torch.optim.Adam(parameters, how.lr)
    while True:
        some = torch.randint(
            len(features), (how.batch_size,), generator=chance, device=features.device
        )
        with torch.enable_grad():
            scale = log_scale.exp() if how.learn_scale else how.scale
            logits = scale * net.scores(features[some], attributes[classes])
            loss = cross_entropy(logits, place[some])
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
    """The number of steps with the best accuracy on held-out classes: a fifth of the classes with
    images at a time, averaged over three splits. With too few classes to hold out two, the
    maximum."""
    classes = labels.unique()
    if len(classes) < 2 * PARTS:
        return how.most
    classes = classes[torch.randperm(len(classes), generator=torch.Generator().manual_seed(seed))]
    accuracies = torch.zeros(how.most)
    for part in range(TIMES):
        held = torch.zeros(len(attributes), dtype=torch.bool, device=labels.device)
        held[classes[part::PARTS]] = True
        away = held[labels]
        steps = descent(features[~away], labels[~away], attributes, how, seed)
        for step, net in enumerate(islice(steps, how.most)):
            if step % EVERY == EVERY - 1:
                with torch.no_grad():
                    scores = net.scores(features[away], attributes)
                accuracies[step] += top1(scores, labels[away], held)
    return int(accuracies.argmax()) + 1


def ridge(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, " n"],
    attributes: Float[Tensor, "c a"],
    weight: float = 1.0,
) -> Float[Tensor, "c d"]:
    """Prototypes of all classes by ridge regression from attributes to the mean feature of each
    class with images: argmin ‖A W − M‖² + weight ‖W‖², with M centred."""
    check_features(features, labels, attributes)
    if not weight > 0:
        raise PolymodalError(f"The weight of a ridge must be above 0, not {weight}.")
    classes, place, counts = labels.unique(return_inverse=True, return_counts=True)
    unit = normalize(attributes.double(), dim=-1)
    means = torch.zeros(len(classes), features.shape[1], dtype=torch.double, device=unit.device)
    means.index_add_(0, place, features.double())
    means = means / counts[:, None]
    middle, centre = means.mean(0), unit[classes].mean(0)
    known = unit[classes] - centre
    # the dual form, with the smaller matrix: there are fewer classes than attributes
    gram = known @ known.T + weight * torch.eye(
        len(classes), dtype=torch.double, device=unit.device
    )
    solution = middle + (unit - centre) @ known.T @ torch.linalg.solve(gram, means - middle)
    return solution.to(features.dtype)


def centred(unit: Float[Tensor, "c a"], known: Bool[Tensor, " c"]) -> Float[Tensor, "c a"]:
    """ℓ2-normalised attributes relative to the mean of the known classes, times √a: what all classes
    share is gone, and the values are about 1."""
    weights = known.to(unit.dtype)
    return unit.shape[1] ** 0.5 * (unit - weights @ unit / weights.sum())


def cosines(
    features: Float[Tensor, "n d"], prototypes: Float[Tensor, "c d"]
) -> Float[Tensor, "n c"]:
    """The cosine of every image with every class."""
    return normalize(features, dim=-1) @ normalize(prototypes, dim=-1).T


def cosines_about(
    features: Float[Tensor, "n d"], prototypes: Float[Tensor, "c d"], known: Shaped[Tensor, " ..."]
) -> Float[Tensor, "n c"]:
    """The same after subtracting the mean prototype of the known classes (a mask or indices), which
    does not distinguish any of them."""
    middle = prototypes[known].mean(0)
    return cosines(features - middle, prototypes - middle)


def check_features(
    features: Float[Tensor, "n d"], labels: Int[Tensor, " n"], attributes: Float[Tensor, "c a"]
) -> None:
    """Refuse a single class, and numbers that are not finite."""
    if len(labels.unique()) < 2:
        raise PolymodalError("Prototypes are fitted to two classes or more. Give more images.")
    for what, numbers in (("features", features), ("attributes", attributes)):
        if not numbers.isfinite().all():
            raise PolymodalError(
                f"Some {what} are not finite numbers. Correct them before fitting prototypes."
            )
