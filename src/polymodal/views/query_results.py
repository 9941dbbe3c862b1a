"""Queries: a text or a picture, and the images that were found for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import UInt8

from polymodal.views.markup import escape, picture
from polymodal.views.page import Section


@dataclass(frozen=True)
class Hit:
    """An image that was found, how well it scored, and whether it is right where that is known."""

    image: UInt8[np.ndarray, "h w 3"] = field(repr=False, compare=False)
    score: float
    captions: tuple[str, ...] = ()
    right: bool | None = None
    entropy: float | None = None


@dataclass(frozen=True)
class QueryResult:
    """A text or a picture and its hits, the best first; the note says how sure they are."""

    query: str
    hits: tuple[Hit, ...]
    note: str = ""
    picture: UInt8[np.ndarray, "h w 3"] | None = field(default=None, repr=False, compare=False)


def queries_section(
    results: Sequence[QueryResult],
    *,
    pixels: int = 160,
    heading: str = "What it finds",
    note: str = "",
) -> Section:
    """Each query with its images in order, their scores, and a mark on those known right or wrong."""
    if not results:
        return Section(heading, '<p class="empty">Nothing was asked.</p>', note)
    return Section(heading, "\n".join(_query(result, pixels) for result in results), note)


def _query(result: QueryResult, pixels: int) -> str:
    """One query."""
    judged = [hit.right for hit in result.hits if hit.right is not None]
    tally = f'<span class="tally">{sum(judged)} of {len(judged)} fit</span>' if judged else ""
    hits = "".join(_hit(place, hit, pixels) for place, hit in enumerate(result.hits, 1))
    shown = f'<ol class="hits">{hits}</ol>' if hits else '<p class="empty">No image was found.</p>'
    said = "".join(
        f'<li value="{place}">{escape(" ".join(hit.captions))}</li>'
        for place, hit in enumerate(result.hits, 1)
        if hit.captions
    )
    more = (
        f"<details><summary>Their own captions</summary><ol>{said}</ol></details>" if said else ""
    )
    note = f'<p class="note">{escape(result.note)}</p>' if result.note else ""
    return (
        f'<article class="query"><h3><q>{escape(result.query)}</q>{tally}</h3>{note}'
        f"{_asked(result, pixels)}{shown}{more}</article>"
    )


def _asked(result: QueryResult, pixels: int) -> str:
    """The picture that asks, as large as the hits."""
    if result.picture is None:
        return ""
    image = picture(result.picture, f"The picture asked with: {result.query}", pixels=pixels)
    return f'<ul class="hits"><li class="hit">{image}</li></ul>'


def _hit(place: int, hit: Hit, pixels: int) -> str:
    """One image of a query."""
    alt = hit.captions[0] if hit.captions else f"Image found at place {place}"
    image = picture(hit.image, alt, title="\n".join(hit.captions), pixels=pixels)
    kind = {True: "right", False: "wrong", None: "unjudged"}[hit.right]
    mark = {True: "✓ fits", False: "✗ does not fit", None: ""}[hit.right]
    badge = f'<span class="mark">{mark}</span>' if mark else ""
    entropy = "" if hit.entropy is None else f"<span>entropy {hit.entropy:z.1f}</span>"
    return (
        f'<li class="hit {kind}"><figure>{image}<figcaption><span class="score">{hit.score:z.3f}</span>'
        f"{entropy}{badge}</figcaption></figure></li>"
    )
