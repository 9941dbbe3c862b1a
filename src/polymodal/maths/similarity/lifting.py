"""Measures that are inner products of lifted vectors, so that a score matrix costs one matrix product.

The score of image i and caption j is `settle(xᵢ·yⱼ + pᵢ + qⱼ)`: x and y are lifted from the two
embeddings, p and q are terms of their own, kept out of the product to lose no digits in it, and
`settle` rises with its argument. min-KL is the greater of two such. No tensor has m × n × d numbers.

Both sides are lifted as seen from a *frame*, one Gaussian near them all. Scores do not depend on it,
but rounding does: near the frame squares are small and little is lost when they cancel.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import unknown
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity.kinds import Embeddings, Kind, check_kind, full

Measure = Callable[[Any, Any], Tensor]
"""Any function of m images and n captions that gives their m×n scores."""

Metric = Literal["inner product", "l2"]


@dataclass(frozen=True)
class Lifted:
    """One side of x·y + p + q: the vectors and, if there are any, the terms of their own."""

    vectors: Float[Tensor, "k w"]
    own: Float[Tensor, " k"] | None = None


Lift = Callable[[Any, DiagonalGaussian], tuple[Lifted, ...]]
"""Embeddings as seen from a frame, lifted for one product or for several, whose greatest counts."""


def as_it_is(products: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The product is the score."""
    return products


@dataclass(frozen=True)
class Lifting:
    """A measure as the lifts of its two sides; call it with images and captions for their scores."""

    name: str
    kinds: tuple[tuple[Kind, Kind], ...]
    """Which sides must be Gaussian: the pairs of kinds that it compares."""
    image: Lift
    caption: Lift
    settle: Callable[[Tensor], Tensor] = as_it_is
    """From x·y + p + q to the score, rising; it may write over its argument."""
    euclidean: Callable[[Any, DiagonalGaussian], Tensor] | None = None
    """Where −½ of a squared distance between points is x·y + p + q: the map to those points."""
    order: tuple[str, str] = ("images", "captions")

    def __call__(self, images: Any, captions: Any) -> Float[Tensor, "m n"]:
        check_kind(self, **dict(zip(self.order, (images, captions), strict=True)))
        return self.hold(images)(captions)

    def hold(self, images: Any) -> "Held":
        """Lift the images once, to score any number of captions against them."""
        check_kind(self, **{self.order[0]: images})
        with exact(images):
            frame = centre(images)
            return Held(self, images, frame, self.image(full(images), frame))

    @property
    def metric(self) -> Metric:
        """How lifted vectors are searched: the greatest inner product or the least L2 distance."""
        return "l2" if self.euclidean else "inner product"

    def lift(
        self, embeddings: Any, side: str, frame: DiagonalGaussian | None = None
    ) -> tuple[Float[Tensor, "k w"], ...]:
        """Vectors whose inner products (or L2 distances, by `metric`) rank as the measure does.

        Whichever side asks, the other is ranked by the same vectors. Where there are two lifts
        (min-KL) the greater product counts, so the k best are among the k best of each.
        """
        if f"{side}s" not in self.order:
            raise unknown("side", side, (name.removesuffix("s") for name in self.order))
        place = self.order.index(f"{side}s")
        check_kind(self, **{self.order[place]: embeddings})
        frame = origin(embeddings) if frame is None else frame
        with exact(embeddings):
            if self.euclidean:
                return (self.euclidean(full(embeddings), frame),)
            terms = (self.caption if place else self.image)(full(embeddings), frame)
            return tuple(widened(term, place) for term in terms)

    def read(self, *products: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Scores of what an index found: an inner product for each lift, or squared L2 distances."""
        best = reduce(torch.maximum, products)  # of several there are only inner products
        return self.settle(-0.5 * best if self.euclidean else best.clone())


@dataclass(frozen=True)
class Held:
    """Images lifted once."""

    measure: Lifting
    images: Embeddings
    frame: DiagonalGaussian
    terms: tuple[Lifted, ...]

    def __call__(self, captions: Any) -> Float[Tensor, "m n"]:
        """The scores of all the images with all these captions."""
        products = [product(x, y) for x, y in zip(self.terms, self.lift(captions), strict=True)]
        return self.measure.settle(reduce(greater, products))

    def pairs(self, rows: Int[Tensor, " n"], captions: Any) -> Float[Tensor, " n"]:
        """The score of each caption with the one image that is named beside it."""
        lifted = zip(self.terms, self.lift(captions), strict=True)
        products = [pair_product(x, rows, y) for x, y in lifted]
        return self.measure.settle(reduce(torch.maximum, products))

    def lift(self, captions: Any) -> tuple[Lifted, ...]:
        order = self.measure.order
        check_kind(self.measure, **{order[0]: self.images, order[1]: captions})
        with exact(captions):
            return self.measure.caption(full(captions), self.frame)


def product(x: Lifted, y: Lifted) -> Float[Tensor, "m n"]:
    """x·y + p + q of all pairs."""
    with exact(x.vectors):
        if x.own is None or y.own is None:
            return x.vectors @ y.vectors.T
        # in place: the sum of the terms is what the product is added to, one pass over m × n
        return (x.own[:, None] + y.own).addmm_(x.vectors, y.vectors.T)


def greater(a: Float[Tensor, "m n"], b: Float[Tensor, "m n"]) -> Float[Tensor, "m n"]:
    """The greater of each two, in the place of the first where no gradient needs that."""
    return torch.maximum(a, b, out=None if torch.is_grad_enabled() else a)


def pair_product(x: Lifted, rows: Int[Tensor, " n"], y: Lifted) -> Float[Tensor, " n"]:
    """x·y + p + q of some pairs."""
    products = (x.vectors[rows] * y.vectors).sum(-1)
    return products if x.own is None or y.own is None else products + x.own[rows] + y.own


def widened(side: Lifted, place: int) -> Float[Tensor, "k w"]:
    """The terms of both sides within the product: [x, p, 1]·[y, 1, q]."""
    if side.own is None:
        return side.vectors
    ones = torch.ones_like(side.own)
    ends = (side.own, ones) if place == 0 else (ones, side.own)
    return torch.cat([side.vectors, torch.stack(ends, 1)], 1)


@torch.no_grad()
def centre(embeddings: Any) -> DiagonalGaussian:
    """The frame of some embeddings: their mean mean and mean log-variance, as constants.

    >>> centre(torch.tensor([[1.0, 2.0], [3.0, 6.0]])).mean
    tensor([2., 4.])
    """
    embeddings = full(embeddings)
    if isinstance(embeddings, DiagonalGaussian):
        return DiagonalGaussian(middle(embeddings.mean), middle(embeddings.log_var))
    mean = middle(embeddings)
    return DiagonalGaussian(mean, torch.zeros_like(mean))


def middle(rows: Float[Tensor, "k d"]) -> Float[Tensor, " d"]:
    """The mean, or zero where one bad row would spoil it for all the others."""
    return rows.mean(0).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


def origin(embeddings: Any) -> DiagonalGaussian:
    """The standard Gaussian as a frame."""
    dtype = torch.promote_types(embeddings.dtype, torch.float32)
    zero = torch.zeros(embeddings.shape[-1], dtype=dtype, device=embeddings.device)
    return DiagonalGaussian(zero, zero)


def exact(embeddings: Any) -> torch.autocast:
    """No autocast: a product rounded to bf16 keeps two or three digits of a squared distance."""
    return torch.autocast(embeddings.device.type, enabled=False)


def hold(measure: Measure, images: Any) -> Callable[[Any], Tensor]:
    """A function of captions alone, for which the images are made ready once where that is possible."""
    return measure.hold(images) if isinstance(measure, Lifting) else partial(measure, images)


def turned(measure: Measure) -> Measure:
    """The same measure with captions first, to look for images by their text.

    >>> from polymodal.maths.similarity import cosine
    >>> turned(cosine)(torch.eye(3)[:1], torch.eye(3)).shape
    torch.Size([1, 3])
    """
    if not isinstance(measure, Lifting):
        return partial(transposed, measure)
    return replace(
        measure,
        image=measure.caption,
        caption=measure.image,
        kinds=tuple((b, a) for a, b in measure.kinds),
        order=(measure.order[1], measure.order[0]),
    )


def transposed(measure: Measure, captions: Any, images: Any) -> Float[Tensor, "n m"]:
    """Scores with captions in rows."""
    return measure(images, captions).T
