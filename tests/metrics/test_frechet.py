"""The Fréchet distance against closed forms, scipy and torchmetrics, in float64."""

import numpy as np
import pytest
import torch
from scipy.linalg import sqrtm

from polymodal.base.errors import PolymodalError
from polymodal.metrics.frechet import Moments, frechet_distance, moments_of, shortage


def gaussian(mean: torch.Tensor, covariance: torch.Tensor, count: int = 1000) -> Moments:
    """Moments that are given, not estimated."""
    found = Moments(len(mean))
    found.count, found.mean = count, mean.double()
    found.few, found.scatter = None, covariance.double() * (count - 1)
    return found


def covariance(dim: int, seed: int) -> torch.Tensor:
    root = torch.randn(dim, dim, dtype=torch.double, generator=torch.manual_seed(seed))
    return root @ root.T / dim


def features(n: int, dim: int, seed: int = 0) -> torch.Tensor:
    chance = torch.manual_seed(seed)
    mixed = torch.randn(dim, dim, generator=chance) / dim**0.5
    return torch.randn(n, dim, generator=chance) @ mixed + torch.randn(dim, generator=chance)


def test_gaussians_with_the_same_axes_have_a_closed_form():
    """Then it is ‖μₐ − μᵦ‖² + Σ (σₐ − σᵦ)²."""
    axes = torch.linalg.qr(torch.randn(6, 6, dtype=torch.double))[0]
    a, b = torch.rand(2, 6, dtype=torch.double)
    mean = torch.randn(2, 6, dtype=torch.double)
    found = frechet_distance(
        gaussian(mean[0], axes @ a.square().diag() @ axes.T),
        gaussian(mean[1], axes @ b.square().diag() @ axes.T),
    )
    expected = (mean[0] - mean[1]).square().sum() + (a - b).square().sum()
    assert found == pytest.approx(expected.item(), rel=1e-9)


@pytest.mark.parametrize("dim", [1, 5, 40])
def test_any_gaussians_are_those_of_scipy(dim):
    a, b = covariance(dim, 1), covariance(dim, 2)
    mean = torch.randn(2, dim, dtype=torch.double)
    roots = np.trace(sqrtm(a.numpy() @ b.numpy()).real)
    expected = (mean[0] - mean[1]).square().sum() + a.trace() + b.trace() - 2 * roots
    found = frechet_distance(gaussian(mean[0], a), gaussian(mean[1], b))
    assert found == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize("n", [5, 400])
def test_a_set_is_at_0_from_itself_and_at_its_shift_from_a_shifted_one(n):
    """Whether its rows are more than its dimensions or fewer."""
    own = features(n, 30).double()
    assert frechet_distance(moments_of(own), moments_of(own)) == pytest.approx(0, abs=1e-9)
    shift = torch.randn(30, dtype=torch.double)
    found = frechet_distance(moments_of(own), moments_of(own + shift))
    assert found == pytest.approx(shift.square().sum().item(), rel=1e-9)


def test_it_is_that_of_torchmetrics():
    from torchmetrics.image.fid import FrechetInceptionDistance

    class Pixels(torch.nn.Module):
        num_features = 12

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return images.flatten(1).double() / 255

    theirs = FrechetInceptionDistance(feature=Pixels(), normalize=False).set_dtype(torch.double)
    a, b = (torch.randint(h, (60, 3, 2, 2), dtype=torch.uint8) for h in (256, 200))
    theirs.update(a, real=True)
    theirs.update(b, real=False)
    ours = [moments_of(Pixels()(images)) for images in (a, b)]
    assert frechet_distance(*ours) == pytest.approx(theirs.compute().item(), rel=1e-6)


@pytest.mark.parametrize("dim", [7, 40, 41, 200])
def test_blocks_are_the_whole(dim):
    """Also where there are no more rows than features, at first or to the end."""
    whole = features(100, dim) + 1000  # far from 0, where sums of squares would cancel
    found = Moments(dim)
    for block in whole.split([1, 0, 40, 59]):
        found.add(block)
    assert found.count == 100
    torch.testing.assert_close(found.mean, whole.double().mean(0))
    torch.testing.assert_close(found.factor @ found.factor.T, whole.double().T.cov())


def test_it_falls_as_sets_come_nearer():
    real = moments_of(features(500, 10))
    far, near = (moments_of(features(500, 10) * scale) for scale in (2.0, 1.1))
    assert frechet_distance(real, far) > frechet_distance(real, near) > 0


def test_too_few_rows_are_told():
    few, enough = moments_of(features(8, 10)), moments_of(features(11, 10))
    assert shortage(enough, enough) is None
    assert "10 features was estimated from 8 items" in shortage(enough, few)
    with pytest.raises(PolymodalError, match="two items or more on either side; found 1"):
        frechet_distance(moments_of(features(1, 10)), few)
    with pytest.raises(PolymodalError, match="of 10 and of 3 dimensions"):
        frechet_distance(few, moments_of(features(8, 3)))
