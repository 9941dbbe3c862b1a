"""How long a step takes, for the benchmarks of training."""

import time
from collections.abc import Callable

import torch


def seconds(step: Callable[[], None], count: int, device: str) -> float:
    """How long a step takes, to the end of what the device was given to do."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / count
