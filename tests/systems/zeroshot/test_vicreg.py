"""VICReg: its three terms, number by number, and what each is for."""

import numpy as np
import pytest
import torch

from learners import made
from patches import TRAIN
from polymodal.systems.zeroshot.vicreg import covariance_penalty, variance_hinge


def by_hand(first, second):
    """Invariance, variance and covariance by loops (Bardes et al., 2022, eqs. 1 to 6)."""
    n, d = first.shape
    invariance = sum((first[i, k] - second[i, k]) ** 2 for i in range(n) for k in range(d)) / (
        n * d
    )
    variance = covariance = 0.0
    for z in (first, second):
        about = z - z.sum(0) / n
        for k in range(d):
            for other in range(d):
                both = sum(about[i, k] * about[i, other] for i in range(n)) / (n - 1)
                if k == other:
                    variance += max(0.0, 1 - (both + 1e-4) ** 0.5) / d
                else:
                    covariance += both**2 / d
    return invariance, variance, covariance


@pytest.mark.parametrize("weights", [None, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_the_loss_is_that_of_the_paper(weights):
    terms = "invariance", "variance", "covariance"
    given = dict(zip(terms, weights, strict=True)) if weights else {}
    system = made("vicreg", expander=8, **given).train()
    batch = system.examples(TRAIN).batch(np.arange(0, 96, 6))
    torch.manual_seed(1)
    found = system.step(batch)["loss"].item()
    torch.manual_seed(1)
    looks = [system.see(batch.images) for _ in range(2)]
    assert not torch.equal(looks[0].seen, looks[1].seen)
    with torch.no_grad():
        wide = [system.expander(look.whole).double().numpy() for look in looks]
    expected = np.dot(weights or (25, 25, 1), by_hand(*wide))
    assert expected > 0
    assert found == pytest.approx(expected, rel=1e-5)


def test_numbers_that_vary_enough_and_apart_cost_nothing():
    corners = 2 * torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert variance_hinge(corners) == covariance_penalty(corners) == 0
    assert variance_hinge(0 * corners).item() == pytest.approx(0.99)  # all images alike
    same = corners[:, :1].expand(4, 2)  # one number, told twice
    assert covariance_penalty(same).item() == pytest.approx((16 / 3) ** 2)
