"""What all batches share, apart from `loading`, which knows no torch."""

from typing import Self

import torch
from torch import Tensor


class Batch:
    """The frozen dataclasses of a batch: all their fields are tensors, a row an example."""

    images: Tensor

    def __len__(self) -> int:
        return len(self.images)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The same batch on another device."""
        moved = {k: v.to(device, non_blocking=non_blocking) for k, v in vars(self).items()}
        return type(self)(**moved)
