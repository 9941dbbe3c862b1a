"""Which modalities of each item a training step looks at."""

import torch
from jaxtyping import Bool
from torch import Tensor

from polymodal.systems.medical.segmenter_settings import LearnFrom


def training_subsets(
    there: Bool[Tensor, "b n"], kind: LearnFrom, warm: bool = False
) -> Bool[Tensor, "s b n"]:
    """Subsets of what there is of each item: one of each item, or s for `each`.

    Args:
        there: which modalities each item has.
        kind: see `Settings.learn_from`.
        warm: the curriculum has not begun, so that nothing is dropped yet.
    """
    n = there.shape[1]
    if kind == "each" and n > 1:
        alone = torch.eye(n, dtype=torch.bool, device=there.device)
        return torch.cat([alone[:, None] & there, there[None]])
    if kind == "random":
        return some_of(there, torch.randint(n, there.shape[:1], device=there.device))[None]
    if kind == "curriculum" and not warm:
        return some_of(there, few(len(there), n, there.device))[None]
    return there[None]


def few(count: int, n: int, device: torch.device) -> Tensor:
    """How many modalities each item loses: k of them 2⁻ᵏ as often as none, so that one or none is the
    rule, as HeMIS has it (Havaei et al., 2016, §3.2)."""
    weights = 0.5 ** torch.arange(n, device=device)
    return torch.multinomial(weights, count, replacement=True)


def some_of(there: Bool[Tensor, "b n"], lost: Tensor) -> Bool[Tensor, "b n"]:
    """What is left of each item when so many modalities, chosen at random, are lost; of what there is,
    one is left at least."""
    order = torch.rand(there.shape, device=there.device).masked_fill(~there, -1.0)
    rank = order.argsort(1, descending=True).argsort(1)  # those that are there come first
    count = there.sum(1)
    kept = (count - lost).clamp(min=1)
    return there & (rank < kept[:, None])
