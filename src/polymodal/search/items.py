"""What an index keeps beside embeddings: which item is which, where its picture lies, what is said of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, overload

import torch
from jaxtyping import Int
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown

SHOWN = 10
"""Values that an error lists."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """An image or a caption of an index."""

    id: str
    """Its name, which no other item of the index has."""
    captions: tuple[str, ...] = ()
    """What is said of the image, or the caption itself."""
    picture: str | None = None
    """The file of its picture, where it has one."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What a search can be narrowed by: its split, and whatever else is known."""


@dataclass(frozen=True)
class Filter:
    """What is asked of the items' metadata, and the places of those that pass."""

    where: Mapping[str, Any]
    places: Int[Tensor, " n"]

    def to(self, device: torch.device) -> "Filter":
        """The same filter for items that are there."""
        return Filter(self.where, self.places.to(device))

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.where.items())


class Items(Sequence[Item]):
    """Items as lines of JSON, each read when it is asked for: a million take no more than their text."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.lines = lines

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Items":
        """Items with ids that are all different."""
        found = list(items)
        seen: set[str] = set()
        for item in found:
            if item.id in seen:
                raise PolymodalError(
                    f"Two items have the id {item.id!r}. An index needs ids that are all different."
                )
            seen.add(item.id)
        texts = (json.dumps(asdict(item), ensure_ascii=False) for item in found)
        return cls([text.encode(errors="surrogatepass") for text in texts])

    @classmethod
    def read(cls, content: bytes) -> "Items":
        """Items of a file of lines."""
        return cls(content.splitlines())

    def write(self) -> bytes:
        """The content of that file."""
        return b"".join(line + b"\n" for line in self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> "Items": ...
    def __getitem__(self, place: int | slice) -> "Item | Items":
        if isinstance(place, slice):
            return Items(self.lines[place])
        fields = json.loads(self.lines[place])
        return Item(**{**fields, "captions": tuple(fields["captions"])})

    @cached_property
    def ids(self) -> list[str]:
        """The id of every item."""
        return [json.loads(line)["id"] for line in self.lines]

    @cached_property
    def metadata(self) -> list[dict[str, Any]]:
        """The metadata of every item."""
        return [json.loads(line)["metadata"] for line in self.lines]

    def matching(self, where: Mapping[str, Any]) -> Filter:
        """The items whose metadata are as asked, each key and value.

        Values are compared as text, since a command line knows nothing else.

        >>> items = Items.of([Item(id="a", metadata={"year": 2}), Item(id="b", metadata={"year": 3})])
        >>> items.matching({"year": "3"}).places
        tensor([1])
        """
        if not isinstance(where, Mapping):
            raise PolymodalError(
                f"where gives values by name, as {{'split': 'test'}}, not {where!r}."
            )
        known = {key for own in self.metadata for key in own}
        for key in where:
            if key not in known:
                raise unknown("key of the items' metadata", key, known)
        asked = {key: str(value) for key, value in where.items()}
        found = [
            place
            for place, own in enumerate(self.metadata)
            if all(key in own and str(own[key]) == value for key, value in asked.items())
        ]
        if not found:
            raise PolymodalError(f"No item has {self.told(asked)}.")
        return Filter(where, torch.tensor(found))

    def told(self, asked: Mapping[str, str]) -> str:
        """A filter that nothing passes, beside the values that there are."""
        parts = []
        for key, value in asked.items():
            there = sorted({str(own[key]) for own in self.metadata if key in own})
            more = f" and {len(there) - SHOWN} more" if len(there) > SHOWN else ""
            parts.append(f"{key}={value} (there are: {', '.join(there[:SHOWN])}{more})")
        return " and ".join(parts)
