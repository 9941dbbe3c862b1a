"""The measures that are matrix products: cosine, Mahalanobis, KL, min-KL, 2-Wasserstein and CSD.

| measure | width of the product | searched by | lift and own term: of an image · of a caption |
|---|---|---|---|
| cosine | d | inner product | unit vectors |
| Mahalanobis | 2d | inner product | of a point [−½x², x] · of a Gaussian [σ⁻², σ⁻²μ], −½Σσ⁻²μ² |
| KL | 2d | inner product | [−½(σ² + μ²), μ], ½Σlog σ² · [σ⁻², σ⁻²μ], −½Σ(log σ² + σ⁻²μ²) |
| min-KL | 2d, twice | two inner products | those of KL, and those of KL the other way round |
| 2-Wasserstein | 2d | L2 distance | [μ, σ], −½Σ(μ² + σ²) for both |
| CSD | d | inner product | μ, −½Σ(μ² + σ²) for both |

Means are measured from the frame's mean, and σ from its σ; in KL, σ² is a ratio to the frame's, less
one. In float32 at d = 1024 the scores then differ from float64's by less than 1e-6 of their size; less
well only where tight clusters lie far apart, since one frame cannot be near them all.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity.kinds import GAUSSIANS, MIXED, POINTS, Embeddings
from polymodal.maths.similarity.lifting import Lifted, Lifting


class NegativeRoot(torch.autograd.Function):
    """−√(−2s), in place, for s below zero; 0 with a gradient of 0 elsewhere."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, s: Tensor) -> Tensor:
        root = s.mul_(-2).clamp_(min=0).sqrt_().neg_()
        ctx.mark_dirty(s)
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> Tensor:
        (root,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return -grads[0] / root.masked_fill(root == 0, -torch.inf)


def negative_root(s: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The negative distance, of minus half its square, with a finite gradient at zero."""
    root: Tensor = NegativeRoot.apply(s)
    return root


def negative_square(s: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The negative squared distance, of half of it, which rounding alone could lift above zero."""
    return s.mul_(2).clamp_(max=0)


def at_most_zero(s: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """A negative divergence, which rounding alone could lift above zero."""
    return s.clamp_(max=0)


def unit(points: Float[Tensor, "k d"], frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """Points on the sphere."""
    return (Lifted(torch.nn.functional.normalize(points, dim=-1)),)


def beside(embeddings: Embeddings, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """A point x, or a Gaussian, for −½ Σ σ⁻²(x − μ)²."""
    if isinstance(embeddings, Tensor):
        x = embeddings - frame.mean
        return (Lifted(torch.cat([-0.5 * x.square(), x], 1), torch.zeros_like(x[:, 0])),)
    y, precision = embeddings.mean - frame.mean, (-embeddings.log_var).exp()
    pull = precision * y
    return (Lifted(torch.cat([precision, pull], 1), -0.5 * (pull * y).sum(1)),)


def seen_from(
    gaussians: DiagonalGaussian, frame: DiagonalGaussian
) -> tuple[Float[Tensor, "k d"], Float[Tensor, "k d"]]:
    """Means and log-variances after the map that makes the frame standard, which leaves KL as it is."""
    scale = (-0.5 * frame.log_var).exp()
    return (gaussians.mean - frame.mean) * scale, gaussians.log_var - frame.log_var


def first(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """P for −KL(P ‖ Q). Ratios of variances less one, so that nothing large is left to cancel."""
    x, log_var = seen_from(gaussians, frame)
    spread = torch.expm1(log_var) + x.square()
    return (Lifted(torch.cat([-0.5 * spread, x], 1), -0.5 * (spread - log_var).sum(1)),)


def second(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """Q for −KL(P ‖ Q)."""
    y, log_var = seen_from(gaussians, frame)
    precision = torch.expm1(-log_var)
    pull = torch.addcmul(y, precision, y)
    constant = -0.5 * (precision + log_var + pull * y).sum(1)
    return (Lifted(torch.cat([precision, pull], 1), constant),)


def first_and_second(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """Images for both KL(image ‖ caption) and KL(caption ‖ image)."""
    return first(gaussians, frame) + second(gaussians, frame)


def second_and_first(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """Captions for both."""
    return second(gaussians, frame) + first(gaussians, frame)


def mean_and_std(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> Float[Tensor, "k w"]:
    """[μ; σ], where the 2-Wasserstein distance is Euclidean."""
    std = torch.expm1(0.5 * (gaussians.log_var - frame.log_var)) * frame.std
    return torch.cat([gaussians.mean - frame.mean, std], 1)


def at_mean_and_std(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """A Gaussian for −½ of the squared 2-Wasserstein distance."""
    z = mean_and_std(gaussians, frame)
    return (Lifted(z, -0.5 * z.square().sum(1)),)


def at_mean(gaussians: DiagonalGaussian, frame: DiagonalGaussian) -> tuple[Lifted, ...]:
    """A Gaussian for −½ of the expected squared distance of two draws."""
    x = gaussians.mean - frame.mean
    return (Lifted(x, -0.5 * (x.square() + gaussians.var).sum(1)),)


cosine = Lifting("cosine", POINTS, unit, unit)
"""Cosine similarity of points (VSE++, 001 §3.1)."""

mahalanobis = Lifting("mahalanobis", MIXED, beside, beside, negative_root)
"""−√((x − μ)ᵀ Σ⁻¹ (x − μ)) of a point and a Gaussian, either way round (001, eq. 6 and 10)."""

kl = Lifting("kl", GAUSSIANS, first, second, at_most_zero)
"""−KL(image ‖ caption) in nats (001, eq. 15)."""

min_kl = Lifting("min_kl", GAUSSIANS, first_and_second, second_and_first, at_most_zero)
"""−min(KL(image ‖ caption), KL(caption ‖ image)) (001, eq. 16)."""

wasserstein = Lifting(
    "wasserstein",
    GAUSSIANS,
    at_mean_and_std,
    at_mean_and_std,
    negative_root,
    euclidean=mean_and_std,
)
"""−√(‖μᵢ − μ_c‖² + ‖σᵢ − σ_c‖²), the 2-Wasserstein distance (001, eq. 17)."""

squared_wasserstein = Lifting(
    "squared_wasserstein",
    GAUSSIANS,
    at_mean_and_std,
    at_mean_and_std,
    negative_square,
    euclidean=mean_and_std,
)
"""−(‖μᵢ − μ_c‖² + ‖σᵢ − σ_c‖²): the square of 001's eq. 17, which ranks alike."""

csd = Lifting("csd", GAUSSIANS, at_mean, at_mean, negative_square)
"""−(‖μᵢ − μ_c‖² + Σ σᵢ² + Σ σ_c²): minus the expected squared distance of two draws (PCME++, eq. 2)."""
