"""The table of scores: what was measured, what it means, and what guessing would give."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from polymodal.views.markup import escape, number
from polymodal.views.page import Section


@dataclass(frozen=True, kw_only=True)
class Metric:
    """How a score is shown and what it means to someone who never met it."""

    label: str
    meaning: str = ""
    group: str = ""
    rising: bool = True
    """Whether more is better."""


def _retrieval() -> dict[str, Metric]:
    """The scores of image–caption retrieval, over a whole split and in folds."""
    metrics = {}
    for way, group, query, answer in (
        ("t2i", "Text → image", "captions", "their image"),
        ("i2t", "Image → text", "images", "one of their captions"),
    ):
        for k in (1, 5, 10):
            place = "first" if k == 1 else f"among the first {k}"
            meaning = f"% of {query} for which {answer} comes {place}."
            metrics[f"{way}_r{k}"] = Metric(label=f"R@{k}", meaning=meaning, group=group)
        meaning = f"For half of the {query}, {answer} comes at this place or before."
        metrics[f"{way}_median"] = Metric(
            label="Median rank", meaning=meaning, group=group, rising=False
        )
        meaning = f"The place of {answer}, on average; 1 is best."
        metrics[f"{way}_mean"] = Metric(
            label="Mean rank", meaning=meaning, group=group, rising=False
        )
        meaning = "mAP@R in %: whether all right answers come first, and in which order."
        metrics[f"{way}_map_at_r"] = Metric(label="mAP@R", meaning=meaning, group=group)
    meaning = "The six recalls added up; 600 is perfect."
    metrics["rsum"] = Metric(label="rsum", meaning=meaning, group="Both ways")
    for query, way in (("caption", "t2i"), ("image", "i2t")):
        group = metrics[f"{way}_r1"].group
        meaning = f"How well the entropy of {query}s tells wrong first answers; 0.5 tells nothing."
        metrics[f"{query}_error_auroc"] = Metric(label="AUROC", meaning=meaning, group=group)
        meaning = f"How far the chances that a search of {query}s claims are from what is observed."
        metrics[f"{way}_ece"] = Metric(
            label="Calibration error", meaning=meaning, group=group, rising=False
        )
    folds = {
        f"fold_{name}": Metric(
            label=metric.label,
            meaning=metric.meaning,
            group=f"{metric.group}, mean over folds",
            rising=metric.rising,
        )
        for name, metric in metrics.items()
    }
    return metrics | folds


RETRIEVAL: Mapping[str, Metric] = _retrieval()


def metric_section(
    scores: Mapping[str, Mapping[str, float]],
    chance: Mapping[str, float] | None = None,
    *,
    known: Mapping[str, Metric] = RETRIEVAL,
    heading: str = "Scores",
    note: str = "",
) -> Section:
    """Metrics down, splits across; `chance` is what guessing gives on splits of this size."""
    names = {name for metrics in scores.values() for name in metrics}
    if not names:
        return Section(heading, '<p class="empty">Nothing was scored.</p>', note)
    chance = chance or {}
    groups: dict[str, list[str]] = {}
    for name in [*(name for name in known if name in names), *sorted(names - known.keys())]:
        metric = known.get(name) or Metric(label=name, group="Other scores" if groups else "")
        groups.setdefault(metric.group, []).append(_row(name, metric, scores, chance))
    columns = [*scores, "chance"] if chance else [*scores]
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    bodies = [_body(group, rows, len(columns)) for group, rows in groups.items()]
    table = (
        f'<table class="scores"><thead><tr><th scope="col">metric</th>{head}</tr></thead>'
        + "".join(bodies)
        + "</table>"
    )
    label = escape(heading)
    return Section(
        heading,
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0">{table}</div>',
        note,
    )


def _body(group: str, rows: list[str], columns: int) -> str:
    """The rows of one group beneath its name."""
    name = escape(group)
    head = f'<tr class="group"><th scope="rowgroup" colspan="{columns + 1}">{name}</th></tr>'
    return f"<tbody>{head if group else ''}{''.join(rows)}</tbody>"


def _row(
    name: str,
    metric: Metric,
    scores: Mapping[str, Mapping[str, float]],
    chance: Mapping[str, float],
) -> str:
    """One metric over all splits."""
    guess = chance.get(name, math.nan)
    cells = []
    for metrics in scores.values():
        value = metrics.get(name, math.nan)
        beside = against(value, guess, metric.rising)
        small = f"<small>{beside}</small>" if beside else ""
        cells.append(f"<td><strong>{number(value)}</strong>{small}</td>")
    if chance:
        cells.append(f"<td>{number(guess)}</td>")
    meaning = f"<small>{escape(metric.meaning)}</small>" if metric.meaning else ""
    return f'<tr><th scope="row">{escape(metric.label)}{meaning}</th>{"".join(cells)}</tr>'


def against(value: float, guess: float, rising: bool) -> str:
    """A score beside what guessing gives: how many times as much, or which share of it, in markup.

    >>> against(42.0, 2.0, rising=True), against(6.0, 250.0, rising=False)
    ('21 ×<i> chance</i>', '2.4 %<i> of chance</i>')
    """
    if not (math.isfinite(value) and math.isfinite(guess)) or guess <= 0:
        return ""
    ratio = value / guess if rising else 100 * value / guess
    shown = f"{ratio:,.1f}" if ratio < 10 else f"{ratio:,.0f}"
    return f"{shown} ×<i> chance</i>" if rising else f"{shown} %<i> of chance</i>"
