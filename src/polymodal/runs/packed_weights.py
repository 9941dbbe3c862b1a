"""Weights in a quarter of their bytes: matrices as whole numbers with a scale per row.

A matrix `name` of a file becomes int8 numbers from -127 to 127, and its scales are kept beside it as
`name.scale`: one for each output, and in a convolution for each output and place of the kernel. No model
has weights of that name: what is below a tensor's name would be a module's.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from polymodal.base.errors import PolymodalError

MOST = 127
"""The largest number that a weight is rounded to."""


def pack(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with scales; vectors, which are small and may be variances, as they are.

    No weight moves by more than half its scale, which is a 127th of the largest weight that shares it.
    To pack what was packed changes nothing.
    """
    packed = {}
    for name, value in weights.items():
        packed[name] = value.contiguous()
        if value.dim() < 2 or not value.is_floating_point():
            continue
        if not value.isfinite().all():
            raise PolymodalError(f"{name} has weights that are no numbers. Train again.")
        # bfloat16 has the range of float32: the scale of small weights does not become 0
        scales = (value.float().abs().amax(1, keepdim=True) / MOST).bfloat16()
        numbers = value.float() / scales.float().where(scales > 0, 1)
        packed[name] = numbers.round().to(torch.int8)
        packed[f"{name}.scale"] = scales
    return packed


def unpack(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a file, packed or not; matrices that were packed become float32."""
    weights = dict(packed)
    for name, numbers in packed.items():
        if f"{name}.scale" in packed:
            weights[name] = numbers * weights.pop(f"{name}.scale").float()
    return weights
