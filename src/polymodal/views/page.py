"""The page: a title, a lead, the sections one after another, and the style inside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path

from polymodal.base.files import write_text
from polymodal.base.version import __version__
from polymodal.views.markup import escape

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""A browser neither fetches nor runs anything for a report, whatever is in it."""


@dataclass(frozen=True)
class Section:
    """A part of a report; heading and note are plain text, the body is markup."""

    heading: str
    body: str
    note: str = ""


def write_report(path: Path, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Write a report that needs no other file and no network, whole or not at all."""
    write_text(Path(path), page(title, lead, sections))


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    anchors = name_anchors([section.heading for section in sections])
    links = [
        f'<li><a href="#{anchor}">{escape(section.heading)}</a></li>'
        for anchor, section in zip(anchors, sections, strict=True)
    ]
    parts = [
        section_markup(section, anchor) for anchor, section in zip(anchors, sections, strict=True)
    ]
    contents = f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>' if parts else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{resources("polymodal.views").joinpath("style.css").read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="lead">{escape(lead)}</p>
{contents}
</header>
<main>
{"".join(parts)}</main>
<footer><p>Written by Polymodal {escape(__version__)}. This file is complete in itself.</p></footer>
</body>
</html>
"""


def section_markup(section: Section, anchor: str) -> str:
    """A section under its heading."""
    note = f'<p class="note">{escape(section.note)}</p>\n' if section.note else ""
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(section.heading)}</h2>\n'
        f"{note}{section.body}\n</section>\n"
    )


def name_anchors(headings: Sequence[str]) -> list[str]:
    """A name for each heading that a link can use, no two alike.

    >>> name_anchors(["What it finds", "What it finds", "?"])
    ['what-it-finds', 'what-it-finds-2', 'section']
    """
    anchors: list[str] = []
    for heading in headings:
        stem = re.sub("[^a-z0-9]+", "-", heading.lower()).strip("-") or "section"
        name, again = stem, 2
        while name in anchors:
            name, again = f"{stem}-{again}", again + 1
        anchors.append(name)
    return anchors
