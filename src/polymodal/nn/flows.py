"""Densities of z, given a context or none: standard normal noise pushed through transforms (004, §5.1.1).

The transforms of single elements are zuko's. Its whole flows are not used: they look up which elements
belong to a half each time, which stops the device and breaks a compiled graph, and they evaluate every
conditioner twice where a sample's own density is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.distributions import Transform

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian

Univariate = Callable[[Tensor], Transform]
"""From the parameters of each element, along the last axis, to its transform from noise to z."""

Move = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From points to where they are moved, and the log-determinant of the Jacobian."""

Hint = Tensor | float
"""What the context adds to the first layer of a conditioner; nothing where there is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Pushed:
    """The distribution of z = f(ε), where ε is standard normal."""

    push: Move
    """f, from noise to z."""
    pull: Move
    """Its inverse, from z to noise."""
    origin: Float[Tensor, "*b z"]
    """Zeros, one row a context."""

    def log_prob(self, z: Float[Tensor, "*s z"]) -> Float[Tensor, "*s"]:
        """log N(f⁻¹(z); 0, I) + log |det ∂f⁻¹/∂z|."""
        noise, volume = self.pull(z)
        return standard(noise) + volume

    def rsample(self, shape: tuple[int, ...] = ()) -> Float[Tensor, "*s z"]:
        """Draws for each context along new first axes, with gradients."""
        return self.rsample_and_log_prob(shape)[0]

    def rsample_and_log_prob(
        self, shape: tuple[int, ...] = ()
    ) -> tuple[Float[Tensor, "*s z"], Float[Tensor, "*s"]]:
        """Draws with their own log-densities, for the price of the draws alone."""
        noise = torch.randn_like(self.origin.expand(*shape, *self.origin.shape))
        z, volume = self.push(noise)
        return z, standard(noise) - volume


class Couplings(nn.Module):
    """z₁′ = z₁ ∘ σ₁(z₂, y) + μ₁(z₂, y), then z₂′ = z₂ ∘ σ₂(z₁′, y) + μ₂(z₁′, y), n times (004, eq. 7–8).

    z₁ is the first half of z by index, z₂ the second; splines may stand for the affine maps. What the
    context y says to all conditioners is one product of matrices, made before the first.
    """

    origin: Tensor

    def __init__(
        self,
        *,
        latent: int,
        context: int,
        transforms: int,
        hidden: int,
        univariate: Univariate,
        parameters: int,
    ) -> None:
        super().__init__()
        if latent < 2:
            raise PolymodalError(
                "A coupling moves one half of z by the other, so z has 2 dimensions or more; "
                f"found {latent}."
            )
        self.sizes = latent // 2, latent - latent // 2
        self.conditioners = nn.ModuleList(
            Conditioner(seen, moved, hidden, univariate, parameters)
            for _ in range(transforms)
            for moved, seen in (self.sizes, self.sizes[::-1])
        )
        wide = len(self.conditioners) * hidden
        self.hints = nn.Linear(context, wide, bias=False) if context else None
        self.register_buffer("origin", torch.zeros(latent), persistent=False)

    def forward(self, context: Float[Tensor, "b d"] | None = None) -> Pushed:
        check_context(context, self.hints is not None)
        count, origin = len(self.conditioners), self.origin
        hints: Sequence[Hint] = [0.0] * count
        if context is not None and self.hints is not None:
            hints = self.hints(context).chunk(count, -1)
            origin = origin.expand(len(context), -1)
        return Pushed(partial(self.push, hints), partial(self.pull, hints), origin)

    def compile_moves(self) -> None:
        """Compile the way to z and back, each to one graph."""
        self.push = torch.compile(self.push)  # type: ignore[method-assign]
        self.pull = torch.compile(self.pull)  # type: ignore[method-assign]

    def push(
        self, hints: Sequence[Hint], noise: Float[Tensor, "*s z"]
    ) -> tuple[Float[Tensor, "*s z"], Float[Tensor, "*s"]]:
        """From noise to z: the first half moves, then the second, and so on."""
        moved, seen = noise.split(self.sizes, -1)
        total = torch.zeros_like(noise[..., 0])
        for conditioner, hint in zip(self.conditioners, hints, strict=True):
            moved, volume = move(conditioner(seen, hint), moved)
            total = total + volume
            moved, seen = seen, moved
        return torch.cat([moved, seen], -1), total

    def pull(
        self, hints: Sequence[Hint], z: Float[Tensor, "*s z"]
    ) -> tuple[Float[Tensor, "*s z"], Float[Tensor, "*s"]]:
        """From z to noise: `push` undone, the last move first."""
        seen, moved = z.split(self.sizes, -1)
        total = torch.zeros_like(z[..., 0])
        for conditioner, hint in zip(reversed(self.conditioners), reversed(hints), strict=True):
            moved, volume = move(conditioner(seen, hint).inv, moved)
            total = total + volume
            moved, seen = seen, moved
        return torch.cat([seen, moved], -1), total


class Conditioner(nn.Module):
    """The transform of one half, conditioned on the other half and a hint; initialised to the identity."""

    def __init__(
        self, seen: int, moved: int, hidden: int, univariate: Univariate, parameters: int
    ) -> None:
        super().__init__()
        self.see = nn.Linear(seen, hidden)
        self.tell = zero_output(hidden, moved * parameters)
        self.univariate, self.shape = univariate, (moved, parameters)

    def forward(self, seen: Float[Tensor, "*s n"], hint: Hint) -> Transform:
        theta = self.tell(self.see(seen) + hint)
        return self.univariate(theta.unflatten(-1, self.shape))


class Gaussian(nn.Module):
    """A Gaussian with a diagonal covariance, conditioned on any context; initialised to N(0, I)."""

    def __init__(self, *, latent: int, context: int, hidden: int) -> None:
        super().__init__()
        self.theta = nn.Parameter(torch.zeros(latent, 2))
        self.net = (
            nn.Sequential(nn.Linear(context, hidden), zero_output(hidden, 2 * latent))
            if context
            else None
        )

    def compile_moves(self) -> None:
        """One affine map needs no compiling."""

    def forward(self, context: Float[Tensor, "b d"] | None = None) -> Pushed:
        check_context(context, self.net is not None)
        theta: Tensor = self.theta
        if self.net is not None:
            theta = theta + self.net(context).unflatten(-1, theta.shape)
        transform = affine(theta, slope=1e-3)
        return Pushed(
            partial(move, transform), partial(move, transform.inv), torch.zeros_like(theta[..., 0])
        )


def couplings(
    *, latent: int, context: int = 0, transforms: int = 6, hidden: int = 512
) -> Couplings:
    """Affine couplings (004, §5.1.1), of log-scales within ±2.3, given a context unless its width is 0."""
    return Couplings(
        latent=latent,
        context=context,
        transforms=transforms,
        hidden=hidden,
        univariate=partial(affine, slope=0.1),
        parameters=2,
    )


def splines(
    *, latent: int, context: int = 0, transforms: int = 6, hidden: int = 512, bins: int = 8
) -> Couplings:
    """Couplings by rational-quadratic splines on [−5, 5] (Durkan et al., 2019), the identity beyond."""
    return Couplings(
        latent=latent,
        context=context,
        transforms=transforms,
        hidden=hidden,
        univariate=spline,
        parameters=3 * bins - 1,
    )


def gaussian(*, latent: int, context: int = 0, hidden: int = 512) -> Gaussian:
    """A Gaussian with a diagonal covariance, given a context unless its width is 0."""
    return Gaussian(latent=latent, context=context, hidden=hidden)


def affine(theta: Float[Tensor, "*s z 2"], slope: float) -> Transform:
    """exp(a) ε + b, where a is bent into ±|log slope|."""
    from zuko.transforms import MonotonicAffineTransform

    shift, scale = theta.unbind(-1)
    return MonotonicAffineTransform(shift, scale, slope=slope)


def spline(theta: Float[Tensor, "*s z k"]) -> Transform:
    """The inverse of a monotonic spline, so that log-densities, which training asks for, need no root."""
    from zuko.transforms import MonotonicRQSTransform

    bins = (theta.shape[-1] + 1) // 3
    return MonotonicRQSTransform(*theta.split((bins, bins, bins - 1), -1)).inv


def move(
    transform: Any, x: Float[Tensor, "*s n"]
) -> tuple[Float[Tensor, "*s n"], Float[Tensor, "*s"]]:
    """Points moved element by element, and the log-determinant (`call_and_ladj` is zuko's own)."""
    y, volume = transform.call_and_ladj(x)
    return y, volume.sum(-1)


def zero_output(hidden: int, outputs: int) -> nn.Sequential:
    """The layers after the first one; their output is 0 at initialisation."""
    last = nn.Linear(hidden, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), last)


def standard(noise: Float[Tensor, "*s z"]) -> Float[Tensor, "*s"]:
    """log N(ε; 0, I)."""
    return DiagonalGaussian.standard(noise).log_prob(noise)


def check_context(context: Tensor | None, expected: bool) -> None:
    """A conditional density needs a context, and another takes none."""
    if (context is not None) != expected:
        raise PolymodalError(
            "This density is conditional: give it a context."
            if expected
            else "This density is not conditional: it takes no context."
        )
