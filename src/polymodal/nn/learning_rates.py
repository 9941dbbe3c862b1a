"""How a learning rate falls."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn


def half_cosine(done: float, floor: float = 0.0) -> float:
    """What is left of a rate when a share of its steps is done: from 1 to the floor along half a cosine.

    >>> [round(half_cosine(done, 0.05), 3) for done in (0.0, 0.5, 1.0, 2.0)]
    [1.0, 0.525, 0.05, 0.05]
    """
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


def adam(
    parameters: Iterable[nn.Parameter], lr: float, *, falls_over: int | None, fused: bool = False
) -> Any:
    """Adam as Lightning takes it: at one rate, or with one that falls to 0 over so many steps."""
    optimizer = torch.optim.Adam(parameters, lr=lr, fused=fused)
    if falls_over is None:
        return optimizer
    last = falls_over

    def falling(step: int) -> float:
        return half_cosine(step / last)

    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, falling)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": decay, "interval": "step"}}
