"""Watches how large tensors grow."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Largest(TorchDispatchMode):
    """Remembers the size of the largest tensor made."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        sizes = [
            min(leaf.numel(), leaf.untyped_storage().nbytes() // leaf.element_size())
            for leaf in tree_leaves(made)
            if isinstance(leaf, torch.Tensor)
        ]
        self.numbers = max(self.numbers, *sizes, 0)
        return made
