"""Every measure from its definition, pair by pair in float64, and Gaussians to try it on."""

import math

import torch
from torch import Tensor

from polymodal.maths.diagonal_gaussian import HIGH, LOW, DiagonalGaussian
from polymodal.maths.similarity import MEASURES, measure

NAMES = [known.name for known in MEASURES]
LIFTED = [name for name in NAMES if name != "bhattacharyya"]
CASES = [(known.name, pair) for known in MEASURES for pair in known.kinds]
"""Every measure with every pair of kinds that it takes."""


def draw(n: int, d: int, dtype: torch.dtype = torch.double, shift: float = 0.0) -> DiagonalGaussian:
    """Gaussians with variances all over their range."""
    low, high = math.log(LOW), math.log(HIGH)
    log_var = low + (high - low) * torch.rand(n, d, dtype=dtype)
    return DiagonalGaussian(shift + torch.randn(n, d, dtype=dtype), log_var)


def of_kind(gaussians: DiagonalGaussian, kind: str) -> Tensor | DiagonalGaussian:
    """The Gaussians, or their means as points."""
    return gaussians if kind == "Gaussian" else gaussians.mean


def both(name: str, m: int, n: int, d: int, pair=None, **options) -> tuple:
    """Images and captions of the kinds that a measure takes."""
    kinds = pair or measure(name).kinds[0]
    return of_kind(draw(m, d, **options), kinds[0]), of_kind(draw(n, d, **options), kinds[1])


def moments(embeddings) -> tuple[Tensor, Tensor]:
    """Means and covariance matrices in float64; a point has the covariance 1."""
    if isinstance(embeddings, Tensor):
        mean = embeddings.double()
        return mean, torch.eye(mean.shape[1], dtype=torch.double).expand(len(mean), -1, -1)
    return embeddings.mean.double(), torch.diag_embed(embeddings.log_var.double().exp())


def divergence(x: Tensor, a: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """KL of full covariances, as eq. 15 writes it."""
    inverse, shift = b.inverse(), x - y
    return 0.5 * (
        (inverse @ a).trace() + shift @ inverse @ shift - len(x) + b.logdet() - a.logdet()
    )


def score(name: str, x: Tensor, a: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """One pair's score from means x, y and covariance matrices a, b."""
    shift = x - y
    if name == "cosine":
        return x @ y / (x.norm() * y.norm())
    if name == "mahalanobis":  # one of the two is a point, of covariance 1
        return -(shift @ (a @ b).inverse() @ shift).sqrt()
    if name == "kl":
        return -divergence(x, a, y, b)
    if name == "min_kl":
        return -torch.minimum(divergence(x, a, y, b), divergence(y, b, x, a))
    if name in ("wasserstein", "squared_wasserstein"):
        root = a.sqrt()  # of a diagonal matrix
        square = shift @ shift + (a + b - 2 * (root @ b @ root).sqrt()).trace()
        return -square.sqrt() if name == "wasserstein" else -square
    if name == "csd":
        return -(shift @ shift + a.trace() + b.trace())
    middle = (a + b) / 2
    widths = middle.logdet() - 0.5 * (a.logdet() + b.logdet())
    return -(shift @ middle.inverse() @ shift / 8 + widths / 2)


def brute(name: str, images, captions) -> Tensor:
    """The whole score matrix, one pair after another."""
    pairs = list(zip(*moments(captions), strict=True))
    return torch.stack(
        [
            torch.stack([score(name, x, a, y, b) for y, b in pairs])
            for x, a in zip(*moments(images), strict=True)
        ]
    )


def wide(name: str, images, captions) -> Tensor:
    """The same by m×n×d tensors in float64, for dimensions where matrices would take too long."""
    x, a = (part[:, None] for part in diagonals(images))
    y, b = diagonals(captions)
    square = (x - y).square()
    forward = 0.5 * (a / b + square / b - 1 + (b / a).log()).sum(-1)
    backward = 0.5 * (b / a + square / a - 1 + (a / b).log()).sum(-1)
    transport = (square + a + b - 2 * (a * b).sqrt()).sum(-1)
    scores = {
        "cosine": (x * y).sum(-1) / (x.norm(dim=-1) * y.norm(dim=-1)),
        "mahalanobis": -(square / (a * b)).sum(-1).sqrt(),
        "kl": -forward,
        "min_kl": -torch.minimum(forward, backward),
        "wasserstein": -transport.sqrt(),
        "squared_wasserstein": -transport,
        "csd": -(square + a + b).sum(-1),
        "bhattacharyya": -(square / (a + b) / 4 + ((a + b) / (a * b).sqrt() / 2).log() / 2).sum(-1),
    }
    return scores[name]


def diagonals(embeddings) -> tuple[Tensor, Tensor]:
    """Means and variances in float64; a point has the variance 1."""
    if isinstance(embeddings, Tensor):
        return embeddings.double(), torch.ones_like(embeddings, dtype=torch.double)
    return embeddings.mean.double(), embeddings.log_var.double().exp()
