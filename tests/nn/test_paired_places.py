"""Bounds place by place: against a plain loop, and against the information of Gaussians."""

import math

import pytest
import torch
from torch.distributions import MultivariateNormal
from torch.nn.functional import softplus

from polymodal.base.errors import PolymodalError
from polymodal.maths.information import donsker_varadhan, infonce, jensen_shannon
from polymodal.nn.critics import ConcatAndConvolve
from polymodal.nn.paired_places import Apart, drawn, information, pair_scores, rows_of, some_places


def convolved(critic: ConcatAndConvolve, x: torch.Tensor, y: torch.Tensor) -> float:
    """T of one pair, by its three layers."""
    return critic.rest(critic.first(torch.cat([x, y]))).item()


@pytest.mark.parametrize(("others", "elsewhere"), [(1, 0), (2, 3), (9, 0), (0, 2)])
def test_the_bound_is_that_of_a_plain_loop(others: int, elsewhere: int) -> None:
    torch.manual_seed(0)
    critic = ConcatAndConvolve(summary=3, local=5, hidden=7).double()
    left, right = torch.randn(4, 3, 2, 3).double(), torch.randn(4, 5, 2, 3).double()
    apart = Apart(others, elsewhere)
    torch.manual_seed(1)
    bound = information(critic, rows_of(left), rows_of(right), apart=apart, bound=jensen_shannon)
    torch.manual_seed(1)
    shifts, jumps = drawn(4, others), drawn(6, elsewhere)
    assert (len(shifts), len(jumps)) == (min(others, 3), elsewhere)
    together, aside = [], []
    for image in range(4):
        for place in range(6):
            x = left[image].flatten(1)[:, place]
            together.append(convolved(critic, x, right[image].flatten(1)[:, place]))
            for shift in shifts:
                other = right[(image - shift) % 4].flatten(1)[:, place]
                aside.append(convolved(critic, x, other))
            for jump in jumps:
                other = right[image].flatten(1)[:, (place - jump) % 6]
                aside.append(convolved(critic, x, other))
    true, false = (torch.tensor(found, dtype=torch.float64) for found in (together, aside))
    naive = math.log(4) - softplus(-true).mean() - softplus(false).mean()
    assert bound.item() == pytest.approx(naive.item(), abs=1e-12)


def test_a_pair_is_never_its_own_negative() -> None:
    """Scores that are high for the same image and place alone: every true pair, and nothing else."""

    class Same:
        def halves(self, x, y):
            return x, y

        def joined(self, x, y):
            return (x == y).all(-1).float()

    names = torch.stack(torch.meshgrid(torch.arange(5), torch.arange(6), indexing="ij"), -1).float()
    scores = pair_scores(Same(), names, names, Apart(4, 5))
    assert scores.shape == (30, 10)
    assert scores[:, 0].eq(1).all()
    assert scores[:, 1:].eq(0).all()


class Exact:
    """The logarithm of p(x, y) / p(x) p(y) of Gaussians with a correlation in each dimension."""

    def __init__(self, rho: float) -> None:
        self.rho = rho

    def halves(self, x, y):
        return x, y

    def joined(self, x, y):
        rho, rest = self.rho, 1 - self.rho**2
        own = (2 * rho * x * y - rho**2 * (x * x + y * y)) / (2 * rest) - 0.5 * math.log(rest)
        return own.sum(-1)


def twice_jensen_shannon(rho: float) -> float:
    """2 JSD of a Gaussian pair with a correlation and its own margins, by a sum over a fine grid."""
    axis = torch.linspace(-6, 6, 601, dtype=torch.float64)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1)
    both = torch.tensor([[1.0, rho], [rho, 1.0]], dtype=torch.float64)
    p = MultivariateNormal(torch.zeros(2).double(), both).log_prob(grid)
    q = MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double()).log_prob(grid)
    middle = torch.logaddexp(p, q) - math.log(2)
    cell = (axis[1] - axis[0]) ** 2
    return ((p.exp() * (p - middle) + q.exp() * (q - middle)).sum() * cell).item()


def test_with_the_best_critic_the_bounds_are_the_information_of_gaussians() -> None:
    """Of two numbers that are correlated by ρ: −½ log (1 − ρ²)."""
    torch.manual_seed(0)
    rho = 0.8
    left = torch.randn(2000, 25, 1).double()
    right = rho * left + math.sqrt(1 - rho**2) * torch.randn(left.shape).double()
    truth = -0.5 * math.log(1 - rho**2)
    exact = Exact(rho)
    for apart in (Apart(20, 0), Apart(0, 20)):  # places here are drawn apart from each other too
        found = information(exact, left, right, apart=apart, bound=donsker_varadhan)
        assert found.item() == pytest.approx(truth, rel=0.03)
        below = information(exact, left, right, apart=apart, bound=jensen_shannon)
        assert below.item() == pytest.approx(twice_jensen_shannon(rho), rel=0.03)
        noise = information(exact, left, right, apart=apart, bound=infonce)
        assert 0.9 * truth < noise < truth


def test_a_global_feature_stands_beside_every_place() -> None:
    torch.manual_seed(0)
    critic = ConcatAndConvolve(summary=3, local=4, hidden=5).double()
    local, whole = torch.randn(3, 3, 2, 2).double(), torch.randn(3, 4).double()
    scores = pair_scores(critic, rows_of(local), rows_of(whole), Apart(2, 4))
    everywhere = whole[:, :, None, None].expand(3, 4, 2, 2)
    torch.manual_seed(5)
    wide = pair_scores(critic, rows_of(local), rows_of(everywhere), Apart(2))
    torch.manual_seed(5)
    narrow = pair_scores(critic, rows_of(local), rows_of(whole), Apart(2, 4))
    assert scores.shape == (12, 3)  # one place has no others
    torch.testing.assert_close(narrow, wide)


def test_no_more_places_than_asked_for() -> None:
    assert some_places(5, 5, torch.device("cpu")) is None
    found = some_places(9, 4, torch.device("cpu"))
    assert len(set(found.tolist())) == 4


def test_what_cannot_be_paired_is_refused() -> None:
    critic = ConcatAndConvolve(summary=3, local=3, hidden=4)
    with pytest.raises(PolymodalError, match=r"both have the same images and places.*\(2, 4, 3\)"):
        pair_scores(critic, torch.zeros(2, 4, 3), torch.zeros(2, 5, 3), Apart())
    with pytest.raises(PolymodalError, match="Of 1 images and 1 places no pair can be drawn apart"):
        pair_scores(critic, torch.zeros(1, 1, 3), torch.zeros(1, 1, 3), Apart())


def test_the_gradient_is_that_of_a_plain_loop() -> None:
    """All negatives are scored in one product, and sums are overwritten."""
    torch.manual_seed(0)
    critic = ConcatAndConvolve(summary=3, local=5, hidden=7).double()
    left, right = torch.randn(3, 4, 3).double(), torch.randn(3, 4, 5).double()
    left.requires_grad_()
    inputs = [left, *critic.parameters()]
    torch.manual_seed(1)
    bound = information(critic, left, right, apart=Apart(2, 2), bound=jensen_shannon)
    torch.manual_seed(1)
    shifts, jumps = drawn(3, 2), drawn(4, 2)
    first, second, third = critic.first, critic.rest[1], critic.rest[3]

    def score(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return third(second(first(torch.cat([x, y])).clamp(min=0)).clamp(min=0))

    true, false = [], []
    for i in range(3):
        for p in range(4):
            true.append(score(left[i, p], right[i, p]))
            false += [score(left[i, p], right[(i - shift) % 3, p]) for shift in shifts]
            false += [score(left[i, p], right[i, (p - jump) % 4]) for jump in jumps]
    plain = math.log(4) - softplus(-torch.cat(true)).mean() - softplus(torch.cat(false)).mean()
    for own, wanted in zip(
        torch.autograd.grad(bound, inputs), torch.autograd.grad(plain, inputs), strict=True
    ):
        torch.testing.assert_close(own, wanted)
