"""Areas under ROC curves: of each finding and their mean, with bootstrap intervals over patients."""

from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Float64

Weights = Float64[np.ndarray, "s n"]
"""How often each item counts in each of s samples."""


def auc(
    scores: Float[np.ndarray, " n"], true: Bool[np.ndarray, " n"], weights: Weights | None = None
) -> Float64[np.ndarray, " s"]:
    """The probability that a true item scores higher than a false one, a tie counting half, in percent.

    Not a number for samples without a true or without a false item.

    >>> auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, True, False, True])).tolist()
    [87.5]
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    values, place = np.unique(scores, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(values)))
    of_true, of_false = (
        np.add.reduceat((weights * own)[:, order], starts, axis=1) for own in (true, ~true)
    )
    below = np.cumsum(of_false, 1) - of_false  # false items that score less than each value
    wins = (of_true * (below + of_false / 2)).sum(1)
    pairs = of_true.sum(1) * of_false.sum(1)
    return np.where(pairs > 0, 100 * wins / np.maximum(pairs, 1e-300), np.nan)


def resampled(owners: Sequence[Hashable], count: int = 1000, seed: int = 0) -> Weights:
    """How often each item counts when patients are drawn anew with replacement, so many times."""
    _, patient = np.unique(np.array([str(own) for own in owners]), return_inverse=True)
    n = int(patient.max()) + 1
    chance = np.random.default_rng(seed)
    return chance.multinomial(n, np.full(n, 1 / n), size=count).astype(np.float64)[:, patient]


def auc_scores(
    scores: Float[np.ndarray, "n k"],
    targets: Float[np.ndarray, "n k"],
    findings: Sequence[str],
    owners: Sequence[Hashable],
    name: str,
    samples: int = 1000,
) -> dict[str, float]:
    """The mean AUC over findings as `auc_NAME`, its 95 % interval as `auc_NAME_low` and `_high`, and
    that of each finding as `auc_NAME_FINDING`. Findings that all or none of the items have are left
    out of all."""
    weights = resampled(owners, samples)
    each, drawn, found = [], [], {}
    for k, finding in enumerate(findings):
        true = targets[:, k] > 0.5
        if true.all() or not true.any():
            continue
        each.append(float(auc(scores[:, k], true)[0]))
        found[f"auc_{name}_{finding}"] = each[-1]
        if samples:
            drawn.append(auc(scores[:, k], true, weights))
    if not each:
        return {}
    macro = {f"auc_{name}": float(np.mean(each))}
    if drawn:
        table = np.stack(drawn)
        known = ~np.isnan(table)
        means = np.where(known, table, 0).sum(0)[known.any(0)] / known.sum(0)[known.any(0)]
        low, high = np.percentile(means, [2.5, 97.5])
        macro |= {f"auc_{name}_low": float(low), f"auc_{name}_high": float(high)}
    return macro | found
