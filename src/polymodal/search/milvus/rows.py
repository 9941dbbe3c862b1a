"""What goes into a Milvus store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from polymodal.base.errors import PolymodalError


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Items to store: an id, a vector for each lift, and metadata."""

    ids: Sequence[str]
    vectors: tuple[Float[np.ndarray, "k _"], ...]
    metadata: Sequence[Mapping[str, Any]]

    def parts(self, size: int) -> Iterator["Rows"]:
        """The same rows, some at a time."""
        for start in range(0, len(self.ids), size):
            some = slice(start, start + size)
            vectors = tuple(lift[some] for lift in self.vectors)
            yield Rows(ids=self.ids[some], vectors=vectors, metadata=self.metadata[some])

    def entities(self, chosen: set[str]) -> list[dict[str, Any]]:
        """Some of the rows, as Milvus takes them; metadata become texts, as filters compare them."""
        rows = zip(self.ids, self.metadata, *self.vectors, strict=True)
        names = fields(len(self.vectors))
        return [
            {
                "id": id,
                "metadata": {key: str(value) for key, value in metadata.items()},
                **dict(zip(names, lifts, strict=True)),
            }
            for id, metadata, *lifts in rows
            if id in chosen
        ]


def fields(lifts: int) -> list[str]:
    """The names of the vector fields."""
    return [f"lift{place}" for place in range(lifts)]


def check_ids(rows: Rows, seen: set[str]) -> None:
    """Refuse an id that was seen before."""
    for id in rows.ids:
        if id in seen:
            raise PolymodalError(f"Two rows have the id {id!r}. Ids must all be different.")
        seen.add(id)


def whole(
    vectors: Sequence[np.ndarray], widths: Sequence[int], names: Sequence[str]
) -> tuple[Float32[np.ndarray, "k _"], ...]:
    """The vectors in float32, if there is one of the right width, and finite, for each name and lift."""
    asked = [(len(names), width) for width in widths]
    if asked != [lift.shape for lift in vectors]:
        shapes = ", ".join(str(list(lift.shape)) for lift in vectors)
        raise PolymodalError(
            f"Expected vectors of shape {', '.join(str(list(shape)) for shape in asked)} for the "
            f"store's lifts, found {shapes}. Lift with the measure that the store was made with."
        )
    with np.errstate(over="ignore"):
        lifts = tuple(np.asarray(lift, np.float32) for lift in vectors)
    for lift in lifts:
        bad = np.flatnonzero(~np.isfinite(lift).all(1))
        if len(bad):
            raise PolymodalError(f"The vector of {names[bad[0]]!r} is not finite in float32.")
    return lifts
