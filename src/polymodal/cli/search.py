"""Search an index with texts or images, with a confidence for each answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction, arg

from polymodal.cli import Device, parse_options

if TYPE_CHECKING:
    from polymodal.base.tables import Table
    from polymodal.search import Answer

LONGEST = 60
"""Characters of a caption that a table shows."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """Search an index with texts or images, with a confidence for each answer."""

    index: Annotated[Path, Positional, arg(metavar="INDEX")]
    """Index folder."""
    texts: Annotated[tuple[str, ...], Positional, arg(metavar="[TEXT ...]")]
    """Query texts."""
    image: UseAppendAction[tuple[Path, ...]] = ()
    """Query image; repeat the flag for more."""
    k: Annotated[int | None, arg(aliases=["-k"])] = None
    """Number of hits; by default ten, or all if there are fewer."""
    where: UseAppendAction[tuple[str, ...]] = ()
    """Only items with this metadata, as split=test; repeat the flag for another key."""
    json: Path | None = None
    """JSON file for the answers."""
    html: Path | None = None
    """HTML page for the answers, with the images."""
    probes: int | None = None
    """ivf: number of lists that are searched; by default as built."""
    effort: int | None = None
    """hnsw: search width (efSearch); by default as built."""
    oversample: int | None = None
    """Candidates per hit; by default as built."""
    run: Path | None = None
    """Directory of the index's run, if it was moved."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_file, write_json
    from polymodal.base.printing import tell
    from polymodal.search import open_index

    options = dict(vars(parse_options(Search, "search", arguments)))
    folder, html, json = (options.pop(name) for name in ("index", "html", "json"))
    if json and json == html:
        raise PolymodalError(f"--json and --html both name {json}. Give each a file of its own.")
    for path in filter(None, (html, json)):
        check_file(path)
    with open_index(folder) as index:  # before what is slow to import: it may not be there
        from polymodal.base.progress import say
        from polymodal.runs.index_asking import ask_index
        from polymodal.views.answer_page import write_page

        images, where = options.pop("image"), conditions(options.pop("where"))
        answers = ask_index(index, images=images, where=where, **options)
    if json:
        write_json(json, {"index": str(folder), "answers": [one.as_json() for one in answers]})
        say(f"Wrote {json}.")
    if html:
        write_page(html, index, answers)
        say(f"Wrote {html}.")
    for answer in answers:
        table(answer).print(f"“{answer.query}”", turn=False)
        tell(f"{answer.sureness}.")
        if answer.unknown:
            tell(f"The model has never seen: {', '.join(answer.unknown)}.")


def conditions(where: Sequence[str]) -> dict[str, str]:
    """Key and value of each filter.

    >>> conditions(["split=test", "name=a=b"])
    {'split': 'test', 'name': 'a=b'}
    """
    from polymodal.base.errors import PolymodalError

    filters: dict[str, str] = {}
    for text in where:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise PolymodalError(f"--where takes key=value, as split=test, not {text!r}.")
        if key in filters:
            raise PolymodalError(f"--where has {key} twice; no item can have two values of it.")
        filters[key] = value
    return filters


def table(answer: "Answer") -> "Table":
    """The hits of one query."""
    from polymodal.base.tables import Table

    rows = []
    for place, hit in enumerate(answer, 1):
        caption = hit.captions[0] if hit.captions else ""
        cut = caption if len(caption) <= LONGEST else f"{caption[: LONGEST - 1]}…"
        entropy = "–" if hit.entropy is None else f"{hit.entropy:.1f}"
        rows.append([str(place), hit.id, f"{hit.score:.4f}", entropy, cut])
    return Table(header=["", "id", "score", "entropy", "caption"], rows=rows)
