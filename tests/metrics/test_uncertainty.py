"""Uncertainty against scikit-learn, naive loops and random orders of ties."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torchmetrics.functional.classification import binary_auroc

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import HIGH, LOW, DiagonalGaussian
from polymodal.metrics.uncertainty import (
    aurc,
    checked,
    collapse_symptom,
    error_auroc,
    falling_share,
    recall_by_decile,
    risk_coverage,
    uncertainty_summary,
    variance_collapse,
)


def queries(count=200, levels=None, seed=0):
    """Ranks that get worse with entropy, which is of few levels where ties are wanted."""
    draw = torch.Generator().manual_seed(seed)
    entropy = torch.randn(count, generator=draw)
    if levels:
        entropy = (entropy * levels / 4).round()
    fails = torch.rand(count, generator=draw) < torch.sigmoid(entropy)
    return fails * torch.randint(1, 30, (count,), generator=draw), entropy


def naive_risk(wrong, order):
    return [float(np.mean([wrong[i] for i in order[: kept + 1]])) for kept in range(len(order))]


@pytest.mark.parametrize("levels", [None, 3, 12])
def test_auroc_is_scikit_learns_and_that_of_all_pairs(levels):
    rank, entropy = queries(levels=levels)
    found = error_auroc(rank, entropy)
    assert found == pytest.approx(roc_auc_score((rank > 0).numpy(), entropy.numpy()))
    pairs = list(itertools.product(entropy[rank > 0].tolist(), entropy[rank == 0].tolist()))
    assert found == pytest.approx(np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs]))
    assert error_auroc(rank, -entropy) == pytest.approx(1 - found)


def test_entropies_of_hundreds_of_nats_are_no_logits():
    """Of which torchmetrics takes the sigmoid: all would be equal."""
    rank, entropy = torch.tensor([0, 0, 4, 1]), torch.tensor([301.0, 303.0, 302.0, 305.0])
    assert error_auroc(rank, entropy) == roc_auc_score((rank > 0).numpy(), entropy.numpy()) == 0.75
    assert binary_auroc(entropy, (rank > 0).long()) == 0.5


@pytest.mark.parametrize("rank", [0, 3])
def test_there_is_no_auroc_where_all_are_right_or_all_wrong(rank):
    assert error_auroc(torch.full((12,), rank), torch.randn(12)) is None
    assert "error_auroc" not in uncertainty_summary(torch.full((12,), rank), torch.randn(12))


def test_risk_without_ties_is_that_of_a_loop():
    rank, entropy = queries()
    coverage, risk = risk_coverage(rank, entropy)
    order = sorted(range(200), key=lambda i: entropy[i])
    assert risk.tolist() == pytest.approx(naive_risk((rank > 0).tolist(), order))
    assert coverage.tolist() == pytest.approx([kept / 200 for kept in range(1, 201)])


def test_risk_with_ties_is_the_mean_over_their_orders():
    rank = torch.tensor([0, 2, 0, 5, 0, 1, 0])
    entropy = torch.tensor([1.0, 1.0, 1.0, 4.0, 2.0, 4.0, 4.0])
    wrong, each = (rank > 0).tolist(), []
    for order in itertools.permutations(range(7)):
        if all(entropy[a] <= entropy[b] for a, b in itertools.pairwise(order)):
            each.append(naive_risk(wrong, order))
    assert len(each) == 36
    found = risk_coverage(rank, entropy)[1]
    assert found.tolist() == pytest.approx(np.mean(each, 0).tolist())
    mixed = torch.tensor([6, 2, 4, 0, 3, 1, 5])
    torch.testing.assert_close(risk_coverage(rank[mixed], entropy[mixed])[1], found)


def test_area_lies_between_the_best_order_and_a_random_one():
    rank, entropy = queries()
    areas = aurc(rank, entropy)
    assert areas["aurc_oracle"] < areas["aurc"] < areas["aurc_random"]
    wrong = (rank > 0).tolist()
    best = naive_risk(wrong, sorted(range(200), key=lambda i: wrong[i]))
    assert areas["aurc_oracle"] == pytest.approx(np.mean(best))
    draws = np.random.default_rng(0)
    random = [np.mean(naive_risk(wrong, draws.permutation(200))) for _ in range(100)]
    error = np.std(random) / math.sqrt(len(random))
    assert areas["aurc_random"] == pytest.approx(np.mean(random), abs=4 * error)


def test_area_of_extremes():
    rank = torch.tensor([0, 0, 1, 1])
    told = aurc(rank, rank.double())
    assert told["aurc"] == told["aurc_oracle"]
    still = aurc(rank, torch.zeros(4))
    assert still["aurc"] == still["aurc_random"] == 0.5
    assert set(aurc(torch.zeros(3, dtype=torch.long), torch.randn(3)).values()) == {0.0}
    assert set(aurc(torch.ones(3, dtype=torch.long), torch.randn(3)).values()) == {1.0}


def test_deciles_are_of_equal_size_and_surest_first():
    rank, entropy = queries(203)
    found = recall_by_decile(rank, entropy)
    order = np.array_split(np.argsort(entropy.numpy()), 10)
    assert {len(part) for part in order} == {20, 21}
    assert found == pytest.approx([100 * (rank.numpy()[part] == 0).mean() for part in order])
    assert np.mean(found[:3]) > np.mean(found[-3:])


def test_deciles_share_ties():
    rank = torch.arange(40) % 4  # one in four is right
    assert recall_by_decile(rank, torch.zeros(40)) == pytest.approx([25.0] * 10)
    assert recall_by_decile(rank, (rank > 1).float(), parts=2) == pytest.approx([50.0, 0.0])


def test_too_few_queries_for_deciles():
    with pytest.raises(PolymodalError, match="in 10 parts needs a query for each; found 9"):
        recall_by_decile(torch.zeros(9, dtype=torch.long), torch.randn(9))
    few = uncertainty_summary(torch.tensor([0, 1, 2]), torch.tensor([1.0, 2.0, 3.0]))
    assert few["error_auroc"] == 1 and "r1_decile_1" not in few


def test_falling_share_counts_pairs():
    torch.manual_seed(0)
    whole, part = torch.randn(50) + 0.5, torch.randn(50)
    assert falling_share(whole, part) == sum(p < w for w, p in zip(whole, part, strict=True)) / 50
    rounded = 100 * whole
    assert falling_share(rounded, rounded * (1 - 1e-7)) == 0  # the same number, rounded twice


def test_the_summary_holds_each_score():
    rank, entropy = queries()
    found = uncertainty_summary(rank, entropy)
    assert found["error_auroc"] == error_auroc(rank, entropy)
    assert found["aurc"] == aurc(rank, entropy)["aurc"]
    assert [found[f"r1_decile_{i}"] for i in range(1, 11)] == recall_by_decile(rank, entropy)
    assert found["entropy_std"] == pytest.approx(entropy.numpy().std())
    assert all(type(value) is float and math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_any_precision_and_any_shift_rank_alike(dtype):
    rank, entropy = queries(levels=12)
    expected = aurc(rank, entropy)
    assert aurc(rank, entropy.to(dtype)) == expected
    assert aurc(rank, 2 * entropy + 8) == expected


def test_bad_entropies_are_refused():
    with pytest.raises(PolymodalError, match=r"found shapes \(3,\) and \(2,\)"):
        checked(torch.zeros(3), torch.zeros(2))
    with pytest.raises(PolymodalError, match="at least one"):
        error_auroc(torch.zeros(0, dtype=torch.long), torch.zeros(0))
    bad = torch.tensor([1.0, math.nan, math.inf])
    with pytest.raises(PolymodalError, match="2 of 3 entropies are not finite"):
        risk_coverage(torch.tensor([0, 1, 2]), bad)
    for pair in ((bad, torch.zeros(3)), (torch.zeros(3), bad)):
        with pytest.raises(PolymodalError, match="not finite"):
            falling_share(*pair)


def gaussians(log_var):
    return DiagonalGaussian(torch.zeros_like(log_var), log_var)


def test_shares_at_the_bounds_are_counted():
    low, high = math.log(0.1), math.log(10)
    near = 0.009 * (high - low)
    log_var = torch.tensor([[low, low + near, 0.0, high], [high - near, 0.0, 0.0, high - 3 * near]])
    found = variance_collapse(gaussians(log_var), LOW, HIGH)
    assert found["at_low"] == found["at_high"] == 2 / 8
    log_det = log_var.double().sum(1).numpy()
    assert found["log_det_mean"] == pytest.approx(log_det.mean())
    assert found["log_det_std"] == pytest.approx(log_det.std())
    assert collapse_symptom(found) is None


@pytest.mark.parametrize(
    ("variance", "words"),
    [
        (0.1, "100% of the variances sit at their lower bound"),
        (10.0, "100% of the variances sit at their upper bound"),
        (1.0, "entropies do not vary"),
    ],
)
def test_collapse_is_named(variance, words):
    still = gaussians(torch.full((30, 16), math.log(variance)))
    found = collapse_symptom(variance_collapse(still, LOW, HIGH))
    assert words in found and "Try" in found


def test_collapse_onto_both_bounds_is_named():
    torch.manual_seed(0)
    log_var = math.log(10) * torch.randn(30, 16).sign()
    found = collapse_symptom(variance_collapse(gaussians(log_var), LOW, HIGH))
    assert "100% of the variances sit at one bound or the other" in found


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(PolymodalError, match="two items or more; found 1"):
        variance_collapse(gaussians(torch.zeros(1, 4)), LOW, HIGH)
    with pytest.raises(PolymodalError, match="0 < low < high"):
        variance_collapse(gaussians(torch.zeros(2, 4)), HIGH, LOW)
    with pytest.raises(PolymodalError, match=r"50.0% of the log-variances are not finite"):
        variance_collapse(gaussians(torch.tensor([[0.0, math.nan]] * 2)), LOW, HIGH)
