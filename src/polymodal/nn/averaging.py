"""A module that follows another: the running mean of its weights, which draws better pictures than they."""

import copy

import torch
from torch import nn


class Average(nn.Module):
    """Exponentially averaged weights of a module; its buffers, such as moments, are the module's own.

    torch's AveragedModel asks at every step how many were averaged, for which a GPU must have ended all
    that it was told before.

    Args:
        module: what is followed.
        decay: how much of the mean is kept at each step; less in the first ones, in which weights are
            still far from what they will be.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        super().__init__()
        self.module = copy.deepcopy(module).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def follow(self, module: nn.Module, step: int) -> None:
        """Take in the weights after a step, which are counted from 0."""
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.module.parameters()), list(module.parameters()), share)
        for mine, theirs in zip(self.module.buffers(), module.buffers(), strict=True):
            mine.copy_(theirs)
