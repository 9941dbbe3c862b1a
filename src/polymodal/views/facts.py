"""Facts: names and values, as deep as they go."""

from collections.abc import Iterable, Mapping
from typing import Any

from polymodal.views.markup import escape
from polymodal.views.page import Section

Facts = Mapping[str, Any] | Iterable[tuple[str, Any]]


def facts_section(pairs: Facts, *, heading: str = "How it was made", note: str = "") -> Section:
    """What must be known to make the figures again: command, hardware, versions, protocol."""
    return Section(heading, fact_list(pairs, "facts"), note)


def fact_list(pairs: Facts, kind: str = "") -> str:
    """Names and values as a list; a value that has names of its own is a list inside it."""
    items = pairs.items() if isinstance(pairs, Mapping) else pairs
    rows = [
        f"<div><dt>{escape(name)}</dt><dd>{value_of(value)}</dd></div>" for name, value in items
    ]
    if not rows:
        return '<p class="empty">Nothing was noted.</p>'
    return f'<dl class="{kind}">' + "".join(rows) + "</dl>" if kind else f"<dl>{''.join(rows)}</dl>"


def value_of(value: Any) -> str:
    """One value: names and values again, several in a row, or text."""
    if isinstance(value, Mapping):
        return fact_list(value)
    if isinstance(value, list | tuple):
        return escape(", ".join(str(part) for part in value))
    return escape("–" if value is None else value)
