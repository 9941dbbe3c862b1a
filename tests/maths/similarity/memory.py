"""Watches how large tensors grow, and how much of them there is at a time."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
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


class Peak(TorchDispatchMode):
    """Remembers the most bytes that the tensors seen within it took at one time."""

    bytes = 0

    def __init__(self):
        super().__init__()
        self.live = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        self.live = {ref: size for ref, size in self.live.items() if not ref.expired()}
        for leaf in tree_leaves(made):
            if isinstance(leaf, torch.Tensor):
                storage = leaf.untyped_storage()
                self.live[StorageWeakRef(storage)] = storage.nbytes()
        self.bytes = max(self.bytes, sum(self.live.values()))
        return made
