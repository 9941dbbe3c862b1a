"""Questions to an index: texts or pictures, embedded by the model that embedded its items."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from torch import Tensor

from polymodal.base.config import to_settings
from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary, tokenize
from polymodal.maths.similarity import Embeddings
from polymodal.search import Answer, Index, answers, fingerprint, open_index


class Embedder(Protocol):
    """What embeds images and texts so that they can be compared: a retrieval system."""

    config: Any
    measure: Any
    reader: Any
    size: int
    made_by: str | None

    def protocol(self) -> dict[str, Any]: ...

    def state_dict(self) -> dict[str, Tensor]: ...

    def encode_images(self, images: Sequence[Any]) -> Embeddings: ...

    def encode_texts(self, texts: Sequence[str]) -> Embeddings: ...

    def encode_captions(self, texts: Sequence[str]) -> Embeddings: ...

    def encode_dataset(self, dataset: Dataset) -> Embeddings: ...


class Hashed(NamedTuple):
    """A model's hash, and the state that it was in."""

    state: list[Any]
    weights: dict[str, Tensor]
    """They share the model's memory: while they are held, no others can come to lie there."""
    hash: str


HASHED: WeakKeyDictionary[Embedder, Hashed] = WeakKeyDictionary()
"""Of each model the last: hashing its weights takes longer than many a search."""


def identity(system: Embedder) -> str:
    """A hash of all that an embedding depends on: weights, settings, words, the size of pictures.

    Weights are hashed again when PyTorch has counted a change of them, or they lie elsewhere. It does
    not count what is written into a weight's `.data`.
    """
    reader = {
        part.name: getattr(system.reader, part.name) for part in fields(system.reader) if part.init
    }
    settings = {"reader": reader, "size": system.size, "made_by": system.made_by}
    settings |= {"config": to_settings(system.config)}
    weights = system.state_dict()
    state = [
        settings,
        *((name, tensor.data_ptr(), tensor._version) for name, tensor in weights.items()),
    ]
    seen = HASHED.get(system)
    if seen is None or seen.state != state:
        seen = HASHED[system] = Hashed(state, weights, fingerprint(weights, settings))
    return seen.hash


def similarity_of(system: Embedder) -> str:
    """The name of what compares its embeddings."""
    return str(system.protocol()["similarity"])


def answer_query(
    system: Embedder,
    query: str | Sequence[str] | None = None,
    *,
    index: Index | Path | str,
    image: Any = None,
    k: int | None = None,
    where: Mapping[str, Any] | None = None,
    probes: int | None = None,
    effort: int | None = None,
    oversample: int | None = None,
) -> Any:
    """What an index holds that fits a text or a picture best: an `Answer`, or a list for a list.

    Args:
        system: the model that embedded the items.
        query: a text, or a list of texts.
        index: an index, or the folder of one.
        image: in place of a text, a picture (a path, a PIL image or an array), or a list of them.
        k: how many hits; by default ten, or all where there are fewer.
        where: only items whose metadata have these values, as {"split": "test"}.
        probes: of an ivf index, how many lists are searched, if not as when it was built.
        effort: of an hnsw index, how widely is searched, likewise.
        oversample: candidates for each hit, likewise.
    """
    if (query is None) == (image is None):
        raise PolymodalError("Ask with a text or with image=…: one of the two.")
    given: Any = image if query is None else query
    several = isinstance(given, list | tuple)
    asked = list(given) if several else [given]
    if not asked:
        return []
    if not isinstance(index, Index | Path | str):
        raise PolymodalError(f"index is an index, or the folder of one, not {index!r}.")
    find = ask_pictures if query is None else ask_texts
    with nullcontext(index) if isinstance(index, Index) else open_index(index) as opened:
        check_index(system, opened)
        wide = opened.tuned(probes=probes, effort=effort, oversample=oversample)
        results = find(system, asked, wide, k=k, where=where)
    return results if several else results[0]


def check_index(system: Embedder, index: Index) -> None:
    """Refuse an index of another similarity, dimension or model."""
    again = "Build the index again with this run, or search with the run that it was built with"
    name, dim = similarity_of(system), system.config.embed_dim
    if index.measure != name:
        raise PolymodalError(
            f"The index was built for the similarity {index.measure}, but this model compares by "
            f"{name}. {again}."
        )
    if index.dim != dim:
        raise PolymodalError(
            f"The index holds embeddings of width {index.dim}, but this model gives {dim}. {again}."
        )
    if index.origin and index.origin.model != identity(system):
        raise PolymodalError(
            "The index was built with another model: same shape, other weights or settings. "
            f"{again} ({index.origin.run})."
        )


def ask_texts(system: Embedder, texts: list[str], index: Index, **how: Any) -> list[Answer]:
    """Ask with texts; words that the model has never seen are named."""
    strange = [strange_words(system.reader, text) for text in texts]
    results = answers(index, system.encode_texts(texts), texts, side="caption", **how)
    return [replace(answer, unknown=words) for answer, words in zip(results, strange, strict=True)]


def strange_words(reader: Any, text: str) -> tuple[str, ...]:
    """The words of a user's text that are not in the vocabulary, which must know one; a tokenizer has
    pieces for all words."""
    words = dict.fromkeys(tokenize(text) if isinstance(text, str) else ())
    if not words:
        raise PolymodalError(f"The text {text!r} has no words. Give one that has.")
    if not isinstance(reader, Vocabulary):
        return ()
    strange = tuple(word for word in words if word not in reader)
    if len(strange) == len(words):
        raise PolymodalError(
            f"The model knows no word of {text!r}: it has seen those of its training captions alone. "
            "Use their words."
        )
    return strange


def ask_pictures(system: Embedder, images: list[Any], index: Index, **how: Any) -> list[Answer]:
    """Ask with pictures."""
    names = [str(image) if isinstance(image, str | Path) else "a picture" for image in images]
    return answers(index, system.encode_images(images), names, side="image", **how)
