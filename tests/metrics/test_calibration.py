"""Calibration: bins against a naive count, the error against torchmetrics."""

import pytest
import torch
from torchmetrics.functional.classification import binary_calibration_error

from polymodal.base.errors import PolymodalError
from polymodal.metrics.calibration import calibration_error, reliability

make = torch.Generator().manual_seed(0)
CLAIMED = torch.rand(700, generator=make) ** 2
RIGHT = torch.rand(700, generator=make) < CLAIMED**1.5


@pytest.mark.parametrize("bins", [1, 7, 10, 15])
def test_the_error_is_that_of_torchmetrics(bins):
    expected = binary_calibration_error(CLAIMED, RIGHT.long(), n_bins=bins, norm="l1").item()
    assert calibration_error(CLAIMED, RIGHT, bins) == pytest.approx(expected, abs=1e-6)


def test_bins_are_those_of_a_naive_count():
    found = reliability(CLAIMED, RIGHT)
    for place in range(10):
        inside = [k for k, c in enumerate(CLAIMED.tolist()) if place < 10 * c <= place + 1]
        assert found[place].count == len(inside)
        assert found[place].claimed == pytest.approx(CLAIMED[inside].mean().item())
        assert found[place].observed == pytest.approx(RIGHT[inside].double().mean().item())


def test_perfect_and_wrong_claims():
    sure = torch.tensor([1.0, 1.0, 0.0])
    assert calibration_error(sure, torch.tensor([True, True, False])) == 0
    assert calibration_error(sure, torch.tensor([False, False, True])) == 1
    assert list(reliability(sure, torch.tensor([True, True, False]))) == [0, 9]


@pytest.mark.parametrize("claimed", [[], [1.1], [-0.1], [torch.nan]])
def test_claims_that_are_no_chances(claimed):
    right = torch.ones(len(claimed), dtype=torch.bool)
    with pytest.raises(PolymodalError, match="a chance from 0 to 1 and an outcome for each query"):
        calibration_error(torch.tensor(claimed, dtype=torch.float), right)
