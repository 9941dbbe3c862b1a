"""Negative captions as a page: each noun with the words that were kept and rejected (002, Fig. 3)."""

from collections.abc import Sequence
from pathlib import Path

from polymodal.runs.negative_examples import NegativeExample, Substitute
from polymodal.views.markup import escape, number
from polymodal.views.page import Section, write_report

LEAD = (
    "A noun of each caption, and words that a language model could put in its place. The kept ones make "
    "a caption that fits but should be false for the image; the rejected ones may be true of it."
)
NOTE = (
    "p: how likely the word is when the noun is hidden. q: how likely it is when the model sees the "
    "noun. The number beside a word is p/q. The noun itself is never kept."
)


def write_negatives(path: Path, examples: Sequence[NegativeExample], title: str) -> None:
    """Write the page."""
    body = "".join(map(article, examples))
    write_report(path, title, LEAD, [Section("Captions and substitutes", body, NOTE)])


def article(example: NegativeExample) -> str:
    """One caption with its noun marked, the words beneath, and all figures on demand."""
    start, end = example.start, example.end
    parts = map(escape, (example.text[:start], example.text[start:end], example.text[end:]))
    caption = '{}<mark class="c-cyan">{}</mark>{}'.format(*parts)
    words = "".join(
        f"<div><dt>{name}</dt><dd>{word_list(chosen) or '–'}</dd></div>"
        for name, chosen in (
            ("kept", [one for one in example.substitutes if one.kept]),
            ("rejected", [one for one in example.substitutes if not one.kept]),
        )
    )
    return (
        f'<article class="negative"><h3>{caption}</h3><dl class="facts">{words}</dl>'
        f"<details><summary>p, q and p/q of all {len(example.substitutes)} words</summary>"
        f"{table(example.substitutes)}</details></article>\n"
    )


def word_list(substitutes: Sequence[Substitute]) -> str:
    """Words with their p/q."""
    return ", ".join(
        f"<b>{escape(one.word)}</b>&nbsp;<small>{number(ratio(one))}</small>" for one in substitutes
    )


def table(substitutes: Sequence[Substitute]) -> str:
    """All figures, the best substitute first."""
    head = "<tr><th>word</th><th>p</th><th>q</th><th>p/q</th><th></th></tr>"
    rows = "".join(
        f"<tr><th>{escape(one.word)}</th><td>{one.p:.2g}</td><td>{one.q:.2g}</td>"
        f"<td>{number(ratio(one))}</td>"
        f"<td>{'the noun itself' if one.itself else 'kept' if one.kept else 'rejected'}</td></tr>"
        for one in substitutes
    )
    return f'<div class="wide"><table class="scores"><thead>{head}</thead>{rows}</table></div>'


def ratio(one: Substitute) -> float:
    """p/q, and infinite where q is 0."""
    return one.p / one.q if one.q else float("inf")
