"""Sampling that depends only on a seed."""

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch within the block, and restore the caller's random state after it."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
