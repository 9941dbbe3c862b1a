"""Small sets of Gaussians to search, and a calibration."""

import torch
from brute import of_kind

from polymodal.maths.diagonal_gaussian import DiagonalGaussian, clamped
from polymodal.search import Calibration, Item, Items

KNOWN = Calibration(
    sizes=(10, 40), weights=((2.0, 1.0, 0.5, 0.0), (-1.0, 1.0, 0.5, 0.0)), asked="caption", queries=50,
    split="validation",
)  # fmt: skip


def clustered(n: int, d: int = 16, clusters: int = 40, seed: int = 0) -> DiagonalGaussian:
    """Gaussians about some centres, the same for every seed; variances all over their range."""
    centres = torch.randn(clusters, 2 * d, generator=torch.Generator().manual_seed(99))
    make = torch.Generator().manual_seed(seed)
    own = centres[torch.randint(clusters, (n,), generator=make)]
    both = own + 0.5 * torch.randn(n, 2 * d, generator=make)
    return DiagonalGaussian(both[:, :d].contiguous(), clamped(both[:, d:]))


def numbered(n: int) -> Items:
    """Items 0, 1, …: every third is of the split val, the others of test."""
    return Items.of(
        Item(id=str(i), captions=(f"item {i}",), metadata={"split": "test" if i % 3 else "val"})
        for i in range(n)
    )


def sides(pair, side, items, queries):
    """Items and queries of the kinds that a measure takes, where the items are of one side."""
    own, asking = pair if side == "image" else pair[::-1]
    return of_kind(items, own), of_kind(queries, asking)


def recall(found, exact) -> float:
    """The share of the exact hits that were found."""
    return (found[:, :, None] == exact[:, None]).any(1).double().mean().item()
