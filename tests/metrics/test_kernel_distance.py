"""KID against loops over pairs and torchmetrics."""

from itertools import permutations, product

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.kernel_distance import Subsets, kernel_distance, squared_mmd


def kernel(x: torch.Tensor, y: torch.Tensor) -> float:
    return ((x @ y).item() / len(x) + 1) ** 3


def test_it_is_the_mean_over_different_pairs():
    a, b = torch.randn(5, 3, dtype=torch.double), torch.randn(7, 3, dtype=torch.double) + 1
    within = [
        sum(kernel(x, y) for x, y in permutations(s, 2)) / len(s) / (len(s) - 1) for s in (a, b)
    ]
    across = sum(kernel(x, y) for x, y in product(a, b)) / 35
    assert squared_mmd(a, b).item() == pytest.approx(sum(within) - 2 * across, rel=1e-9)


def test_a_subset_of_all_is_torchmetrics_own():
    from torchmetrics.image.kid import poly_mmd

    a, b = torch.randn(20, 4, dtype=torch.double), torch.rand(20, 4, dtype=torch.double)
    found = kernel_distance(a, b, Subsets(count=3, size=20))
    assert found.value == pytest.approx(poly_mmd(a, b).item(), rel=1e-9)
    assert found.spread == pytest.approx(0, abs=1e-12)


def test_it_is_about_0_for_sets_of_one_kind_and_not_for_others():
    chance = torch.manual_seed(0)
    a, b = (torch.randn(600, 8, generator=chance) for _ in range(2))
    same = kernel_distance(a, b, Subsets(count=20, size=100))
    other = kernel_distance(a, b + 0.5, Subsets(count=20, size=100))
    assert abs(same.value) < 3 * same.spread / 20**0.5 + 0.02
    assert other.value > 10 * abs(same.value)


def test_subsets_follow_from_their_seed():
    a, b = torch.randn(50, 4), torch.rand(50, 4)
    first = kernel_distance(a, b, Subsets(count=4, size=10))
    torch.rand(3)  # torch's own generator has no part in it
    assert kernel_distance(a, b, Subsets(count=4, size=10)) == first
    assert kernel_distance(a, b, Subsets(count=4, size=10, seed=1)) != first


def test_too_few_items():
    with pytest.raises(PolymodalError, match="subsets of 10 items, but one side has 9"):
        kernel_distance(torch.rand(20, 2), torch.rand(9, 2), Subsets(size=10))
    with pytest.raises(PolymodalError, match="size must be 2 or more, not 1"):
        Subsets(size=1)
