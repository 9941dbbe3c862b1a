"""Windows cover a scan, and what they tell is weighed rightly."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from polymodal.nn.sliding_windows import slide, weights, windows


def echo(scans: list[torch.Tensor]) -> torch.Tensor:
    """Two subsets and two classes: functions of each place alone."""
    (scan,) = scans
    two = torch.cat([scan, 1 - scan], 1)
    return torch.stack([two, 2 * two])


@pytest.mark.parametrize(("grid", "size"), [((9, 14), (4, 5)), ((7, 6, 9), (4, 6, 3))])
@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("at_once", [1, 3])
def test_what_does_not_depend_on_the_window_is_found_again(grid, size, overlap, at_once) -> None:
    scan = torch.rand(2, 1, *grid)
    found = slide(echo, [scan], size, overlap=overlap, at_once=at_once)
    torch.testing.assert_close(found, echo([scan]))


def test_a_window_that_covers_everything_is_the_scan_itself() -> None:
    scan = torch.rand(2, 1, 9, 8)
    assert slide(lambda own: own[0][None], [scan], (9, 8))[0].equal(scan)


@pytest.mark.parametrize("overlap", [0.0, 0.25, 0.5, 0.75])
def test_windows_cover_every_place_and_share_what_they_should(overlap: float) -> None:
    for side in range(5, 40):
        seen = np.zeros(side, int)
        starts = [own.start for (own,) in windows([side], [5], overlap)]
        for start in starts:
            seen[start : start + 5] += 1
        assert seen.min() >= 1
        assert starts[0] == 0
        assert starts[-1] == side - 5
        assert all(b - a <= max(1, int(5 * (1 - overlap))) for a, b in pairwise(starts))


def test_each_place_is_the_weighted_mean_over_its_windows() -> None:
    calls = iter(range(100))

    def numbered(scans: list[torch.Tensor]) -> torch.Tensor:
        return torch.full((1, 1, 1, *scans[0].shape[2:]), float(next(calls)))

    found = slide(numbered, [torch.zeros(1, 1, 10, 7)], (4, 4))[0, 0, 0]
    axis = (np.arange(4) - 1.5) / (4 / 8)
    weight = np.exp(-0.5 * axis**2)
    weight = np.maximum(np.outer(weight, weight) / np.outer(weight, weight).max(), 1e-3)
    total, count = np.zeros((10, 7)), np.zeros((10, 7))
    for number, own in enumerate(windows((10, 7), (4, 4))):
        total[own] += number * weight
        count[own] += weight
    np.testing.assert_allclose(found.numpy(), total / count, rtol=1e-5)
    np.testing.assert_allclose(weights((4, 4)).numpy(), weight, rtol=1e-5)
