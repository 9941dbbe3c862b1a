"""How far features are sums of what things are made of: the tree reconstruction error (003, §4.4.4, A.8).

Each attribute has a vector η; a thing is reconstructed as the sum of those of the attributes that it
has, and the error is the cosine distance to its features (Andreas, 2019). η is fitted to training
images. Some features are closer to sums of anything than others, so the error is divided by that of
attributes which say nothing: the ratio is low where features are made of attributes.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import watched
from polymodal.base.ranges import Positive, check_ranges

STEPS, HELD = 10, 5
"""Steps between two looks at a number, for which a device must wait; and of how many classes one is held
out where these say when to stop."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How η is fitted, and what stands for attributes that say nothing."""

    random: Literal["image", "class"] = "image"
    """Whether each image has attributes of its own drawn, or all of a class the same. The thesis says
    'random cluster assignment'; those of a class still tell classes apart."""
    restarts: Positive[int] = 3
    """Fits from different starts, and draws of random attributes."""
    start: Positive[float] = 0.01
    """The deviation of η's numbers at first. Where there are fewer classes than attributes, some of what
    it starts from is never unlearned, and weighs on classes that were not fitted to."""
    lr: Positive[float] = 0.01
    """Adam's rate."""
    patience: Positive[int] = 50
    """It ends when so many steps have not made the error smaller by `tolerance`."""
    tolerance: Positive[float] = 1e-4
    """See `patience`."""
    most: Positive[int] = 3000
    """Steps at most."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class Described:
    """Features of images, and which attributes each has."""

    features: Float[Tensor, "n d"]
    attributes: Bool[Tensor, "m a"]

    def __post_init__(self) -> None:
        if len(self.features) != len(self.attributes) or not len(self.features):
            raise PolymodalError(
                "Every image needs its features and its attributes; found "
                f"{len(self.features)} of features and {len(self.attributes)} of attributes."
            )
        if not self.features.isfinite().all():
            raise PolymodalError("Some features are not finite numbers. Look at the encoder first.")
        if not self.attributes.any(1).all():
            raise PolymodalError(
                "Some images have no attribute at all, so that nothing can be summed. Take a lower "
                "threshold of what counts as present."
            )

    def grouped(self) -> tuple[Float[Tensor, "g a"], Float[Tensor, "g d"]]:
        """The different rows of attributes, and the sum of the directions of their images' features over
        all images. The mean distance is 1 − Σ over rows of their sum's product with the row's own
        direction: images with the same attributes need not be told apart."""
        rows, group = self.attributes.unique(dim=0, return_inverse=True)
        sums = torch.zeros(len(rows), self.features.shape[1], device=self.features.device)
        sums = sums.index_add(0, group, normalize(self.features.float(), dim=-1))
        return rows.float(), sums / len(group)


def error(data: Described, eta: Float[Tensor, "a d"]) -> float:
    """TRE(X, a; η): the mean cosine distance of features and sums of vectors (003, A.8)."""
    rows, sums = data.grouped()
    return distance(rows, sums, eta).item()


def distance(
    rows: Float[Tensor, "g a"], sums: Float[Tensor, "g d"], eta: Float[Tensor, "a d"]
) -> Float[Tensor, ""]:
    """One less the cosines of each group's features and its sum of vectors, in the mean over images."""
    return 1 - (sums * normalize(rows @ eta, dim=-1)).sum()


@dataclass(frozen=True)
class Fitted:
    """η with the least error on some images, the argmin of the thesis (A.8), and η on the way there, after
    as many steps as are best for every fifth class, held out. Where there are fewer classes than
    attributes, η comes to know the classes by heart, and the error of others rises again."""

    converged: Float[Tensor, "a d"]
    stopped: Float[Tensor, "a d"]


def fit(data: Described, how: Fit, seed: int = 0) -> Fitted:
    """η by gradient descent, until it moves no more and as far as held-out classes like it."""
    rows, sums = data.grouped()
    best = best_steps(rows, sums, how, seed)
    for steps, eta in descent(rows, sums, how, seed):
        if steps <= best:
            stopped = eta.clone()
    return Fitted(eta, stopped)


def descent(
    rows: Float[Tensor, "g a"], sums: Float[Tensor, "g d"], how: Fit, seed: int
) -> Iterator[tuple[int, Float[Tensor, "a d"]]]:
    """How many steps, and η after them: every few, until it moves no more."""
    generator = torch.Generator().manual_seed(seed)
    start = how.start * torch.randn(rows.shape[1], sums.shape[1], generator=generator)
    eta = start.to(sums.device).requires_grad_()
    adam = torch.optim.Adam([eta], how.lr)
    best, waited = float("inf"), 0
    for step in range(how.most):
        loss = distance(rows, sums, eta)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % STEPS == 0:
            loss_now = loss.item()
            best, waited = (
                (loss_now, 0) if loss_now < best - how.tolerance else (best, waited + STEPS)
            )
        ended = waited >= how.patience or step + 1 == how.most
        if ended or (step + 1) % STEPS == 0:
            yield step + 1, eta.detach()
        if ended:
            return


def best_steps(rows: Float[Tensor, "g a"], sums: Float[Tensor, "g d"], how: Fit, seed: int) -> int:
    """After how many steps of a fit to most groups the error of the others is least."""
    if len(rows) < 2:
        raise PolymodalError(
            "All images have the same attributes, so that none can be held out to stop by. Give images "
            "of 2 classes or more."
        )
    held = torch.arange(len(rows), device=rows.device) % HELD == 0
    errors = {
        steps: distance(rows[held], sums[held], eta).item()
        for steps, eta in descent(rows[~held], sums[~held], how, seed)
    }
    return min(errors, key=errors.__getitem__)


def tre_ratio(train: Described, test: Described, how: Fit | None = None) -> dict[str, float]:
    """The error with attributes over that with random ones, on held-out images, its spread over restarts,
    and the same where fits are stopped by held-out classes.

    Random attributes are as many an image, or a class, as the true ones.
    """
    (ratio,) = tre_ratios(train, [test], how)
    return ratio


def tre_ratios(
    train: Described, tests: Sequence[Described], how: Fit | None = None
) -> list[dict[str, float]]:
    """The same on several sets of images, of one fit."""
    how = how or Fit()
    for test in tests:
        if train.attributes.shape[1] != test.attributes.shape[1]:
            raise PolymodalError(
                f"The training images have {train.attributes.shape[1]} attributes, the others "
                f"{test.attributes.shape[1]}. Give the same list for both."
            )
    ratios = []
    for seed in watched(range(how.restarts), "fitting attributes"):
        known, *asked = scrambled([train, *tests], how.random, seed)
        true, random = fit(train, how, seed), fit(known, how, seed)
        ratios.append(
            [
                (errors(test, true), errors(other, random))
                for test, other in zip(tests, asked, strict=True)
            ]
        )
    return [summary(restarts) for restarts in zip(*ratios, strict=True)]


class Errors(NamedTuple):
    """Those of one fit, at its end and where it was stopped."""

    converged: float
    stopped: float


def errors(data: Described, fitted: Fitted) -> Errors:
    """The errors of some images."""
    return Errors(error(data, fitted.converged), error(data, fitted.stopped))


def summary(restarts: Sequence[tuple[Errors, Errors]]) -> dict[str, float]:
    """Ratios of the errors with attributes and with random ones, and both, in the mean over restarts."""
    ratios = [true.converged / random.converged for true, random in restarts]
    return {
        "tre_ratio": statistics.mean(ratios),
        "tre_ratio_spread": statistics.stdev(ratios) if len(ratios) > 1 else 0.0,
        "tre": statistics.mean(true.converged for true, _ in restarts),
        "tre_random": statistics.mean(random.converged for _, random in restarts),
        "tre_ratio_stopped": statistics.mean(
            true.stopped / random.stopped for true, random in restarts
        ),
    }


def scrambled(
    every: Sequence[Described], random: Literal["image", "class"], seed: int = 0
) -> list[Described]:
    """The same images with attributes that say nothing: each row's own places drawn anew, for every image
    or for every class, which then has the same in all sets."""
    attributes = torch.cat([one.attributes for one in every])
    rows, group = attributes.unique(dim=0, return_inverse=True)
    shuffled = rows if random == "class" else attributes
    chance = torch.rand(shuffled.shape, generator=torch.Generator().manual_seed(seed))
    drawn = shuffled.gather(1, chance.argsort(1).to(shuffled.device))
    drawn = drawn[group] if random == "class" else drawn
    parts = drawn.split([len(one.attributes) for one in every])
    return [Described(one.features, part) for one, part in zip(every, parts, strict=True)]
