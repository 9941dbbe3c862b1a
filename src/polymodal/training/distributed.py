"""Several processes as one: batches joined across them, gradients flowing back to each."""

from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor
from torch import distributed as dist


def world() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather(mine: Shaped[Tensor, "b ..."]) -> Shaped[Tensor, "n ..."]:
    """The rows of every process, in the order of processes; alone, the rows as they are.

    When each process computes the same loss of the joined rows, the average of their gradients
    (which DDP takes) is the gradient that one process with the joined batch would have.
    """
    return mine if world() == 1 else Gather.apply(mine)


class Gather(torch.autograd.Function):
    """All-gather forwards; backwards, the sum over processes of the gradient of one's own rows."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> Tensor:
        rows = [torch.empty_like(mine) for _ in range(world())]
        dist.all_gather(rows, mine.contiguous())
        return torch.cat(rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        dist.all_reduce(total)
        return total.chunk(world())[dist.get_rank()]
