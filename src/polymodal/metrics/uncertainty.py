"""How well entropy predicts retrieval errors (001, abstract and §3.3), and whether variances have collapsed.

Queries come as their `rank` (0: the right answer was first) and their `entropy`, higher for less
certain; `log_det()` serves as well, since only the order counts. Queries of equal
entropy share their mean score, so the order of ties does not matter. Risks and areas lie between
0 and 1; recalls are percentages.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian, check_range
from polymodal.maths.similarity import slack

STUCK = 0.95
"""More than this share of the variances at a bound is a collapse."""

STILL = 1e-3
"""A standard deviation of log det Σ, in nats, below which entropies do not vary."""


def error_auroc(rank: Int[Tensor, " q"], entropy: Float[Tensor, " q"]) -> float | None:
    """How often a query that fails has more entropy than one that succeeds: 0.5 is chance (R6).

    The area under the ROC curve of 'top-1 is wrong' as predicted by entropy; a tie counts half. None when
    all queries fail or all succeed. (torchmetrics' takes entropies for logits, whose sigmoids are equal.)

    >>> error_auroc(torch.tensor([0, 0, 4, 1]), torch.tensor([1.0, 3.0, 2.0, 5.0]))
    0.75
    """
    rank, entropy = checked(rank, entropy)
    failed, passed = entropy[rank > 0], entropy[rank == 0].sort().values
    if not len(failed) or not len(passed):
        return None
    below = torch.searchsorted(passed, failed) + torch.searchsorted(passed, failed, right=True)
    return 0.5 * below.double().mean().item() / len(passed)


def risk_coverage(
    rank: Int[Tensor, " q"], entropy: Float[Tensor, " q"]
) -> tuple[Float[Tensor, " q"], Float[Tensor, " q"]]:
    """Coverage and risk: the share of queries kept, surest first, and the share of those that fail (R6).

    Within a group of equal entropies the risk is the mean over all orders of the group.

    >>> risk_coverage(torch.tensor([7, 0, 0, 2]), torch.tensor([9.0, 1.0, 2.0, 2.0]))[1]
    tensor([0.0000, 0.2500, 0.3333, 0.5000], dtype=torch.float64)
    """
    rank, entropy = checked(rank, entropy)
    kept = torch.arange(1, len(rank) + 1, dtype=torch.double)
    return kept / len(rank), by_entropy(rank > 0, entropy).cumsum(0) / kept


def aurc(rank: Int[Tensor, " q"], entropy: Float[Tensor, " q"]) -> dict[str, float]:
    """The area under the risk–coverage curve, beside those of a random order and of the best one.

    A random order keeps the share of failures at every coverage; the best keeps all that succeed first.

    >>> aurc(torch.tensor([0, 0, 0, 2]), torch.tensor([1.0, 1.0, 1.0, 1.0]))
    {'aurc': 0.25, 'aurc_random': 0.25, 'aurc_oracle': 0.0625}
    """
    return {
        "aurc": risk_coverage(rank, entropy)[1].mean().item(),
        "aurc_random": (rank > 0).double().mean().item(),
        "aurc_oracle": risk_coverage(rank, (rank > 0).double())[1].mean().item(),
    }


def recall_by_decile(
    rank: Int[Tensor, " q"], entropy: Float[Tensor, " q"], parts: int = 10
) -> list[float]:
    """R@1 of each tenth of the queries, surest first; their sizes differ by one at most (R6)."""
    rank, entropy = checked(rank, entropy)
    if len(rank) < parts:
        raise PolymodalError(
            f"Recall in {parts} parts needs a query for each; found {len(rank)}. Ask for fewer parts."
        )
    right = 100 * by_entropy(rank == 0, entropy)
    return [part.mean().item() for part in right.tensor_split(parts)]


def falling_share(whole: Float[Tensor, " p"], part: Float[Tensor, " p"]) -> float:
    """The share of pairs whose entropy falls from the whole to its part (001, Table 3; R4).

    A whole is a caption or an image, its part a truncation or a crop. An entropy that stays the
    same, rounding aside, has not fallen: a model of constant variances gets 0, not a half.

    >>> falling_share(torch.tensor([18.19, 26.14, 3.0]), torch.tensor([15.51, 19.05, 3.0]))
    0.6666666666666666
    """
    _, whole = checked(part, whole)
    _, part = checked(whole, part)
    return (part < slack(whole)).double().mean().item()


def uncertainty_summary(rank: Int[Tensor, " q"], entropy: Float[Tensor, " q"]) -> dict[str, float]:
    """All of the above for one way of retrieval, with the entropies' mean and standard deviation.

    What is not defined is left out: `error_auroc` where all or none fail, `r1_decile_1` (the surest)
    to `r1_decile_10` of fewer than ten queries.
    """
    auroc = error_auroc(rank, entropy)
    scores = {} if auroc is None else {"error_auroc": auroc}
    scores |= aurc(rank, entropy)
    if len(rank) >= 10:
        for place, recall in enumerate(recall_by_decile(rank, entropy), 1):
            scores[f"r1_decile_{place}"] = recall
    scores["entropy_mean"] = entropy.double().mean().item()
    scores["entropy_std"] = entropy.double().std(correction=0).item()
    return scores


def variance_collapse(gaussian: DiagonalGaussian, low: float, high: float) -> dict[str, float]:
    """Where the variances of some items lie: the shares at each bound, and how log det Σ varies.

    A log-variance is at a bound if it is no farther from it than a hundredth of their distance.
    """
    check_range(low, high)
    if len(gaussian) < 2:
        raise PolymodalError(
            f"How variances vary shows in two items or more; found {len(gaussian)}."
        )
    log_var = gaussian.log_var.detach().double()
    if not log_var.isfinite().all():
        bad = (~log_var.isfinite()).double().mean().item()
        raise PolymodalError(
            f"{bad:.1%} of the log-variances are not finite: the model has diverged. "
            "Train it again with a smaller learning rate."
        )
    near = 0.01 * math.log(high / low)
    log_det = log_var.sum(-1)
    return {
        "at_low": (log_var <= math.log(low) + near).double().mean().item(),
        "at_high": (log_var >= math.log(high) - near).double().mean().item(),
        "log_det_mean": log_det.mean().item(),
        "log_det_std": log_det.std(correction=0).item(),
    }


def collapse_symptom(variances: dict[str, float]) -> str | None:
    """What is wrong with the variances that `variance_collapse` describes, in plain words, if anything.

    >>> print(collapse_symptom({"at_low": 0.3, "at_high": 0.1, "log_det_std": 4.0}))
    None
    """
    low, high = variances["at_low"], variances["at_high"]
    if low > STUCK:
        return (
            f"{low:.0%} of the variances sit at their lower bound: the model is equally "
            "certain of everything and compares points. Try a smaller --low, --bound squash (which keeps "
            "learning near a bound) or a higher --log-var-start."
        )
    if high > STUCK:
        return (
            f"{high:.0%} of the variances sit at their upper bound: the model is equally "
            "uncertain of everything. Try --bound squash (which keeps learning near a bound), a "
            "lower --log-var-start or a smaller --lr; a larger --high only if the recalls are good."
        )
    if low + high > STUCK:
        return (
            f"{low + high:.0%} of the variances sit at one bound or the other ({low:.0%} lower, "
            f"{high:.0%} upper) and have stopped learning. Try --bound squash (which keeps learning "
            "near a bound), a wider range (--low, --high) or a smaller --lr."
        )
    if variances["log_det_std"] < STILL:
        return (
            f"The entropies do not vary (log det Σ by {variances['log_det_std']:.1g} nats): the model is "
            "equally certain of every item, so its uncertainty has no meaning. Try a larger "
            "--log-var-scale, more epochs or another similarity."
        )
    return None


def by_entropy(values: Tensor, entropy: Float[Tensor, " q"]) -> Float[Tensor, " q"]:
    """Values in the order of rising entropy, each the mean over all that have the same entropy."""
    _, group, size = torch.unique(entropy, return_inverse=True, return_counts=True)
    mean = torch.bincount(group, values.double(), minlength=len(size)) / size
    return mean[group.sort().values]


def checked(beside: Tensor, entropy: Tensor) -> tuple[Tensor, Tensor]:
    """Both on the CPU, entropies in double; refused if there are none or some are not finite."""
    if beside.shape != entropy.shape or entropy.ndim != 1 or not len(entropy):
        raise PolymodalError(
            "Uncertainty needs one entropy for each query or pair, and at least one; found shapes "
            f"{tuple(beside.shape)} and {tuple(entropy.shape)}."
        )
    bad = (~entropy.isfinite()).sum().item()
    if bad:
        raise PolymodalError(
            f"{bad} of {len(entropy)} entropies are not finite: the model has diverged. "
            "Train it again with a smaller learning rate."
        )
    return beside.cpu(), entropy.detach().cpu().double()
