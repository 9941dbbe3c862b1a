"""Rows for a store, whose truth is known."""

import numpy as np

from polymodal.search.milvus import Rows

ABOUT = {"model": "abc", "measure": "min_kl", "side": "image", "dim": 2}


def make_rows(count: int, lifts: int = 1, width: int = 5) -> Rows:
    """Rows with vectors drawn from a normal distribution, and metadata of two keys."""
    random = np.random.default_rng(count)
    return Rows(
        ids=[f"item {place}" for place in range(count)],
        vectors=tuple(random.normal(size=(count, width)) for _ in range(lifts)),
        metadata=[{"split": ("train", "val")[n % 2], "year": 2010 + n % 3} for n in range(count)],
    )
