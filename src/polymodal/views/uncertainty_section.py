"""Uncertainty on a page: what is gained by keeping the surest queries only, and which those are."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.metrics.uncertainty import error_auroc, risk_coverage
from polymodal.views.line_plot import Line, plot
from polymodal.views.markup import escape
from polymodal.views.page import Section

SHOWN = 6
"""Queries of each end that are listed."""


def uncertainty_section(
    rank: Int[Tensor, " q"],
    entropy: Float[Tensor, " q"],
    texts: Sequence[str],
    *,
    k: int = 10,
    heading: str = "How sure it is",
    note: str = "",
) -> Section:
    """The risk–coverage curve of 'the right answer is not among the first k', beside a random order and
    the best one; the AUROC in words; the surest and the least sure queries."""
    failed = (rank >= k).long().cpu()
    auroc = error_auroc(failed, entropy)
    lines = [
        Line("surest first", curve(failed, entropy)),
        Line("in any order", ((0.0, risk(failed)), (100.0, risk(failed)))),
        Line("best possible", curve(failed, failed.double())),
    ]
    drawn = plot(
        f"% without the right answer among the first {k}",
        lines,
        zero=True,
        x_label="% of queries kept",
    )
    order = entropy.argsort().tolist()
    sides = query_list("Surest", order[:SHOWN], texts, entropy) + query_list(
        "Least sure", order[::-1][:SHOWN], texts, entropy
    )
    return Section(
        heading, f'<p>{auroc_sentence(auroc)}</p><div class="plots">{drawn}</div>{sides}', note
    )


def auroc_sentence(auroc: float | None) -> str:
    """What an AUROC means, in a sentence.

    >>> auroc_sentence(0.62)
    'Of a query that fails and one that succeeds, the first has more entropy in 62 % of the cases.'
    """
    if auroc is None:
        return "All queries fail or all succeed, so there is nothing to tell apart."
    return (
        "Of a query that fails and one that succeeds, the first has more entropy in "
        f"{100 * auroc:.0f} % of the cases."
    )


def curve(
    failed: Int[Tensor, " q"], doubt: Float[Tensor, " q"], points: int = 100
) -> tuple[tuple[float, float], ...]:
    """Coverage and risk in percent, at evenly spaced coverages."""
    coverage, risks = risk_coverage(failed, doubt)
    places = torch.linspace(0, len(risks) - 1, min(points, len(risks))).round().long()
    return tuple((100 * coverage[p].item(), 100 * risks[p].item()) for p in places.tolist())


def risk(failed: Int[Tensor, " q"]) -> float:
    """The percentage of all queries that fail."""
    return 100 * failed.double().mean().item()


def query_list(
    title: str, places: Sequence[int], texts: Sequence[str], entropy: Float[Tensor, " q"]
) -> str:
    """Some queries and their entropies."""
    rows = "".join(
        f"<li>{escape(texts[place])} <small>{entropy[place].item():.1f} nats</small></li>"
        for place in places
    )
    return f"<h3>{escape(title)}</h3><ul>{rows}</ul>"
