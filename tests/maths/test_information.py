"""Bounds on information against loops over pairs, and against what correlated Gaussians share."""

import math

import pytest
import torch
from memory import Largest

from polymodal.base.errors import PolymodalError
from polymodal.maths.information import (
    bound_named,
    check_mask,
    donsker_varadhan,
    infonce,
    jensen_shannon,
    score_penalty,
    soft_clip,
)

BOUNDS = [infonce, donsker_varadhan, jensen_shannon]
CLASSES = torch.tensor([0, 0, 1, 2, 2, 1])


def scores_of(*shape, seed=0, scale=3.0):
    return scale * torch.randn(shape, dtype=torch.double, generator=torch.manual_seed(seed))


def masks(kind):
    """Positives and negatives: the diagonal, images of one class (neither with oneself), or any pairs."""
    if kind == "diagonal":
        return None, None
    same = CLASSES[:, None] == CLASSES
    if kind == "matched":  # true pairs drawn within a class beforehand, false ones of other classes
        return None, ~same
    if kind == "classes":
        return same & ~torch.eye(6, dtype=torch.bool), ~same
    drawn = torch.rand(6, 6, generator=torch.manual_seed(5))
    return drawn < 0.3, drawn > 0.6


KINDS = ["diagonal", "matched", "classes", "any"]


def naive(bound, scores, positives, negatives):
    """Pair by pair and place by place."""
    scores = scores.flatten(2) if scores.ndim > 2 else scores[..., None]
    m, n, places = scores.shape
    positives = torch.eye(m, dtype=torch.bool) if positives is None else positives
    negatives = ~positives if negatives is None else negatives
    pairs = [(i, j) for i in range(m) for j in range(n)]
    true, false = [p for p in pairs if positives[p]], [p for p in pairs if negatives[p]]

    def over(pairs):
        return [scores[i, j, k].item() for i, j in pairs for k in range(places)]

    def average(values):
        return sum(values) / len(values)

    if bound is donsker_varadhan:
        return average(over(true)) - math.log(average([math.exp(s) for s in over(false)]))
    if bound is jensen_shannon:
        together = average([math.log(2 / (1 + math.exp(-s))) for s in over(true)])
        return together + average([math.log(2 / (1 + math.exp(s))) for s in over(false)])
    gains = []
    for i, j in true:
        others = [math.exp(s) for s in over([p for p in false if p[0] == i])]
        for s in over([(i, j)]):
            share = math.exp(s) / (math.exp(s) + sum(others))
            gains.append(math.log(share * (1 + len(others))))
    return average(gains)


@pytest.mark.parametrize("places", [(), (3,), (2, 4)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_equals_a_loop(bound, kind, places):
    scores, pairs = scores_of(6, 6, *places), masks(kind)
    expected = naive(bound, scores, *pairs)
    assert bound(scores, *pairs).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bound", BOUNDS)
def test_rows_and_columns_need_not_be_as_many(bound):
    scores, drawn = scores_of(4, 6, 3), torch.rand(4, 6, generator=torch.manual_seed(1))
    positives, negatives = drawn < 0.4, drawn > 0.5
    expected = naive(bound, scores, positives, negatives)
    assert bound(scores, positives, negatives).item() == pytest.approx(expected, rel=1e-12)


def test_infonce_is_a_cross_entropy():
    scores = scores_of(7, 7)
    cost = torch.nn.functional.cross_entropy(scores, torch.arange(7))
    torch.testing.assert_close(infonce(scores), math.log(7) - cost)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_a_critic_that_knows_nothing_finds_nothing(bound, kind):
    assert bound(torch.zeros(6, 6, 3), *masks(kind)).item() == pytest.approx(0, abs=1e-6)


def correlated(n, d, correlation, seed=0):
    """Standard normal x and y of n rows, each dimension of one correlated with the other's."""
    generator = torch.manual_seed(seed)
    x, noise = torch.randn(2, n, d, dtype=torch.double, generator=generator)
    return x, correlation * x + math.sqrt(1 - correlation**2) * noise


def information(d, correlation):
    """What x and y share, in nats."""
    return -0.5 * d * math.log(1 - correlation**2)


def log_ratio(x, y, correlation):
    """log p(x, y) / p(x) p(y) of every pair, from the densities."""
    squares = x.square().sum(-1)[:, None] + y.square().sum(-1)
    away = correlation**2 * squares - 2 * correlation * x @ y.T
    return information(x.shape[1], correlation) - away / (2 * (1 - correlation**2))


@pytest.mark.parametrize(("d", "correlation"), [(1, 0.3), (2, 0.5), (4, 0.6)])
@pytest.mark.parametrize("bound", [infonce, donsker_varadhan])
def test_the_best_critic_finds_nearly_all_information(bound, d, correlation):
    found = bound(log_ratio(*correlated(3000, d, correlation), correlation)).item()
    assert found == pytest.approx(information(d, correlation), abs=0.04)


def test_infonce_is_below_the_information_at_any_size_and_nearer_at_a_larger_one():
    d, correlation = 4, 0.8
    means = []
    for b in (2, 8, 64):
        batches = zip(*(rows.split(b) for rows in correlated(3200, d, correlation)), strict=True)
        found = torch.stack([infonce(log_ratio(x, y, correlation)) for x, y in batches])
        assert found.max() <= math.log(b)
        means.append(found.mean().item())
    assert means == sorted(means)
    assert means[-1] < information(d, correlation) < means[-1] + 0.2


def test_infonce_finds_no_more_than_the_logarithm_of_its_batch():
    ratios = log_ratio(*correlated(50, 8, 0.99), 0.99)
    assert information(8, 0.99) > 15
    assert infonce(ratios).item() == pytest.approx(math.log(50), abs=0.01)


def divergence(correlation):
    """JSD of joint and product in one dimension, by a sum over a grid."""
    grid = torch.linspace(-9, 9, 1201, dtype=torch.double)[:, None]
    ratio = log_ratio(grid, grid, correlation)
    product = torch.exp(-0.5 * (grid.square() + grid.square().T)) / (2 * math.pi)
    joint, cell = product * ratio.exp(), (18 / 1200) ** 2
    middle = torch.log(0.5 * (1 + ratio.exp()))  # of the mixture over the product
    return 0.5 * cell * (joint * (ratio - middle) - product * middle).sum().item()


@pytest.mark.parametrize("correlation", [0.3, 0.8, 0.95])
def test_jensen_shannon_is_twice_the_divergence_and_below_the_information(correlation):
    found = jensen_shannon(log_ratio(*correlated(3000, 1, correlation), correlation)).item()
    assert found == pytest.approx(2 * divergence(correlation), abs=0.02)
    assert 2 * divergence(correlation) < information(1, correlation)


def test_jensen_shannon_is_at_most_log_four():
    assert jensen_shannon(100 * torch.eye(5) - 50).item() == pytest.approx(math.log(4))


@pytest.mark.parametrize("bound", BOUNDS)
def test_any_other_critic_finds_less(bound):
    best = log_ratio(*correlated(1500, 2, 0.6), 0.6)
    noise = torch.randn(best.shape, dtype=torch.double, generator=torch.manual_seed(1))
    others = [0.7 * best, 1.3 * best, best + 0.3 * noise, -best]
    assert all(bound(other) < bound(best) for other in others)


def test_what_a_critic_may_add_unseen():
    scores = scores_of(6, 6, 3)
    torch.testing.assert_close(donsker_varadhan(scores + 5), donsker_varadhan(scores))
    by_row = torch.arange(6.0)[:, None, None]
    torch.testing.assert_close(infonce(scores + by_row), infonce(scores))
    best = log_ratio(*correlated(1500, 2, 0.6), 0.6)  # which Jensen–Shannon knows to the constant
    assert max(jensen_shannon(best + c) for c in (-0.5, 0.5)) < jensen_shannon(best)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast_are_computed_in_float32(bound, dtype):
    scores = scores_of(6, 6, 3).to(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = bound(scores)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, bound(scores.float()))
    torch.testing.assert_close(found.double(), bound(scores.double()))


@pytest.mark.parametrize("size", [1e4, -1e4])
@pytest.mark.parametrize("bound", BOUNDS)
def test_scores_of_any_size_are_safe(bound, size):
    scores = torch.full((6, 6, 2), size) + size * torch.eye(6)[..., None]
    scores.requires_grad_()
    bound(scores, *masks("classes")).backward()
    assert bound(scores).isfinite()
    assert scores.grad.isfinite().all()


def test_a_row_without_negatives_tells_infonce_nothing():
    scores = scores_of(3, 3, 2).requires_grad_()
    negatives = torch.tensor([[False, False, False], [True, False, True], [True, True, False]])
    found = infonce(scores, None, negatives)
    found.backward()
    assert found.item() == pytest.approx(naive(infonce, scores, None, negatives), rel=1e-12)
    assert scores.grad[0].abs().max() == 0
    assert scores.grad[1:].isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_gradients(bound, kind):
    scores = scores_of(6, 6, 2, scale=1.0).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: bound(s, *masks(kind)), scores)
    (gradient,) = torch.autograd.grad(bound(scores, *masks(kind)), scores)
    positives, negatives = masks(kind)
    positives = torch.eye(6, dtype=torch.bool) if positives is None else positives
    if negatives is not None:  # what is neither learns nothing
        assert gradient[~(positives | negatives)].abs().max() == 0


@pytest.mark.parametrize("bound", BOUNDS)
def test_nothing_larger_than_the_scores_is_made(bound):
    scores = scores_of(12, 12, 9).requires_grad_()
    with Largest() as largest:
        bound(scores).backward()
    assert largest.numbers == scores.numel()


@pytest.mark.parametrize("bound", BOUNDS)
def test_masks_on_an_accelerator_are_not_waited_for(bound):
    """A tensor without memory fails whoever asks for its values."""
    scores = torch.empty(6, 6, 3, device="meta")
    pairs = torch.empty(6, 6, dtype=torch.bool, device="meta")
    assert bound(scores, pairs, ~pairs).shape == bound(scores).shape == ()


def test_scores_are_clipped_softly():
    scores = scores_of(4, 4, 3, scale=30.0)
    expected = torch.tensor([5 * math.tanh(s / 5) for s in scores.flatten().tolist()])
    torch.testing.assert_close(soft_clip(scores, 5.0).flatten(), expected.double())
    assert soft_clip(scores).abs().max() <= 10
    assert soft_clip(scores.bfloat16()).dtype == torch.float32
    assert torch.autograd.gradcheck(soft_clip, scores_of(2, 2, seed=1).requires_grad_())


def test_scores_are_penalised_by_their_squares():
    scores = scores_of(4, 4, 3)
    expected = sum(s**2 for s in scores.flatten().tolist()) / 48
    assert score_penalty(scores).item() == pytest.approx(0.05 * expected)
    assert score_penalty(scores, weight=1.0).item() == pytest.approx(expected)
    assert score_penalty(scores.half()).dtype == torch.float32


def test_names():
    assert [bound_named(n) for n in ("infonce", "donsker-varadhan", "jensen-shannon")] == BOUNDS
    with pytest.raises(PolymodalError, match=r"Unknown bound on information 'infonc'.*'infonce'\?"):
        bound_named("infonc")


NONE = torch.zeros(3, 3, dtype=torch.bool)
EYE = torch.eye(3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("shape", "positives", "negatives", "message"),
    [
        ((1, 1), None, None, r"2 rows and 2 columns or more.*shape \(1, 1\)\. Give a larger batch"),
        ((3, 3, 0), None, None, r"2 rows and 2 columns or more.*shape \(3, 3, 0\)"),
        ((3, 4), None, None, r"3 rows and 4 columns have no diagonal.*Give `positives`"),
        ((3, 3), None, NONE, r"No pair of the batch is among its negatives\. Give a larger batch"),
        ((3, 3), NONE, None, r"No pair of the batch is among its positives"),
        ((3, 3), EYE[:2], ~EYE, r"positives are booleans of .*\(3, 3\); found .*shape \(2, 3\)"),
        ((3, 3, 2), None, EYE[0], r"negatives are booleans of .*\(3, 3\); found .*shape \(3,\)"),
        ((3, 3), EYE, EYE, r"together or apart, not both; found 3 such pairs.*Take the positives"),
    ],
)
@pytest.mark.parametrize("bound", BOUNDS)
def test_impossible_pairs_are_refused(bound, shape, positives, negatives, message):
    with pytest.raises(PolymodalError, match=message):
        bound(torch.zeros(shape), positives, negatives)


def test_other_impossible_arguments_are_refused():
    with pytest.raises(PolymodalError, match=r"positives are booleans .* found torch.float32"):
        check_mask("positives", torch.eye(3), (3, 3))
    with pytest.raises(PolymodalError, match=r"limit of clipped scores is a positive.*found 0\.0"):
        soft_clip(torch.zeros(2, 2), 0.0)
