"""The measure that is no matrix product, pair by pair in blocks of bounded memory."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity.kinds import GAUSSIANS, Kind, check_kind, full


@dataclass(frozen=True)
class Bhattacharyya:
    """−(¼ Σ (μᵢ − μ_c)² / (σᵢ² + σ_c²) + ½ Σ log((σᵢ² + σ_c²) / 2σᵢσ_c)), the negative distance."""

    bytes: int = 2**23
    """The most that one m×n×d tensor of a block takes; about three exist at a time."""
    name: str = "bhattacharyya"
    kinds: tuple[tuple[Kind, Kind], ...] = GAUSSIANS
    order: tuple[str, str] = ("images", "captions")

    def __call__(self, images: Any, captions: Any) -> Float[Tensor, "m n"]:
        check_kind(self, images=images, captions=captions)
        with torch.autocast(images.device.type, enabled=False):
            x, y = full(images), full(captions)
            rows, columns = self.block(len(x), x)
            bands = []
            for top in range(0, len(x), rows):
                part = x[top : top + rows]
                cells = [
                    scores(part, y[left : left + columns]) for left in range(0, len(y), columns)
                ]
                bands.append(torch.cat(cells, 1) if cells else part.mean.new_zeros(len(part), 0))
            return torch.cat(bands) if bands else x.mean.new_zeros(0, len(y))

    def block(self, m: int, embeddings: Any) -> tuple[int, int]:
        """How many images and captions are compared at a time: near a square, within `bytes`."""
        pairs = max(1, self.bytes // (embeddings.dtype.itemsize * embeddings.shape[-1]))
        rows = max(1, min(m, math.isqrt(pairs)))
        return rows, max(1, pairs // rows)


bhattacharyya = Bhattacharyya()


def scores(x: DiagonalGaussian, y: DiagonalGaussian) -> Float[Tensor, "m n"]:
    """The scores of one block; its inner tensors are made again for the gradient, not kept."""
    parts = (x.mean, x.log_var, y.mean, y.log_var)
    if torch.is_grad_enabled() and any(part.requires_grad for part in parts):
        scores: Tensor = checkpoint(negative_distance, *parts, use_reentrant=False)
        return scores
    return negative_distance(*parts)


def negative_distance(
    x: Float[Tensor, "m d"],
    x_log_var: Float[Tensor, "m d"],
    y: Float[Tensor, "n d"],
    y_log_var: Float[Tensor, "n d"],
) -> Float[Tensor, "m n"]:
    """The whole m×n×d computation."""
    log_sum = torch.logaddexp(x_log_var[:, None], y_log_var)
    shift = 0.25 * ((x[:, None] - y).square() * (-log_sum).exp()).sum(-1)
    widths = 0.5 * (log_sum - 0.5 * (x_log_var[:, None] + y_log_var) - math.log(2)).sum(-1)
    return -(shift + widths)
