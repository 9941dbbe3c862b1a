"""The answers of an index as a page, with the pictures of the hits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.user_images import as_picture
from polymodal.runs.jobs import open_data
from polymodal.search import Answer, Index
from polymodal.views import Hit, QueryResult, Section, facts_section, queries_section, write_report

PIXELS = 224
"""The side of a picture that asks, on the page."""


def write_page(path: Path, index: Index, answers: Sequence[Answer]) -> None:
    """Write the answers as a page that needs no other file, with the pictures of the hits."""
    pictures = Pictures(index)
    results = [
        QueryResult(
            answer.query,
            tuple(
                Hit(pictures.of(hit.metadata), hit.score, hit.captions, entropy=hit.entropy)
                for hit in answer
            ),
            note=answer_facts(answer),
            picture=asked_with(answer),
        )
        for answer in answers
    ]
    lead = f"The best of {len(index)} {index.side}s by {index.measure}, and how sure the model is."
    sections: list[Section] = [queries_section(results)]
    if index.origin:
        facts = {name: value for name, value in vars(index.origin).items() if value}
        sections.append(facts_section(facts))
    write_report(path, "Polymodal search", lead, sections)


def asked_with(answer: Answer) -> Any:
    """The picture that asks, where it is a file."""
    if answer.asked == "image" and Path(answer.query).is_file():
        return as_picture(answer.query, PIXELS)
    return None


def answer_facts(answer: Answer) -> str:
    """All that is said of an answer beside its hits."""
    parts = [str(answer.sureness)]
    if answer.entropy is not None:
        parts.append(f"entropy of the query {answer.entropy:.1f} nats")
    if answer.unknown:
        parts.append(f"words that the model has never seen: {', '.join(answer.unknown)}")
    return "; ".join(parts) + "."


class Pictures:
    """The pictures of an index's items, from the data that were embedded."""

    def __init__(self, index: Index) -> None:
        if index.origin is None:
            raise PolymodalError("The index does not say which data its items are of: no pictures.")
        origin = index.origin
        self.splits = open_data(
            origin.data,
            features=Path(origin.features) if origin.features else None,
            skip_bad=origin.skip_bad,
        )
        for name, fingerprint in origin.splits.items():
            if name not in self.splits or self.splits[name].fingerprint != fingerprint:
                raise PolymodalError(
                    f"The split {name!r} of {origin.data} is not what it was when it was indexed, so "
                    "pictures might be those of others. Bring it back, or index it again."
                )

    def of(self, metadata: Mapping[str, Any]) -> Any:
        """The picture of one item."""
        return self.splits[metadata["split"]].images([metadata["record"]])[0]
