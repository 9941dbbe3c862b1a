"""An index asked with the run that it was built with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.runs.loading import load
from polymodal.search import Answer, Index
from polymodal.search.asking import answer_query


def ask_index(
    index: Index,
    *,
    texts: Sequence[str] = (),
    images: Sequence[Path] = (),
    run: Path | None = None,
    device: str = "cpu",
    **how: Any,
) -> list[Answer]:
    """Ask an index with texts, then with pictures.

    Args:
        index: the index.
        texts: texts to ask with.
        images: pictures to ask with.
        run: where its run is, if it was moved.
        device: where to compute.
        how: how many hits, of what, how widely searched: see `search.asking.answer_query`.
    """
    if not texts and not images:
        raise PolymodalError('Ask for something: polymodal search INDEX "a text", or --image FILE.')
    system = load(run_of(index, run), device)
    answers: list[Answer] = answer_query(system, list(texts), index=index, **how)
    return answers + answer_query(system, image=list(images), index=index, **how)


def run_of(index: Index, run: Path | None) -> Path:
    """Where the run of an index is."""
    if run is not None:
        return run
    if index.origin is None:
        raise PolymodalError("The index does not say which run it was built with. Give --run DIR.")
    if not Path(index.origin.run).is_dir():
        raise PolymodalError(
            f"The run that the index was built with is not at {index.origin.run} any more. "
            "Give --run DIR."
        )
    return Path(index.origin.run)
