"""The records of some splits as what an index holds: items to be found, and their embeddings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from polymodal.data.drawn.scenes.scene_split import Split
from polymodal.data.features import Features
from polymodal.data.folder import FolderSplit
from polymodal.data.pairs import captions_of
from polymodal.data.records import Caption, Dataset, Images, Record
from polymodal.maths.similarity import Embeddings, joined
from polymodal.search import Item, Items, Side
from polymodal.search.asking import Embedder


class Records:
    """The images, or all the captions, of some splits, one split after another."""

    def __init__(self, splits: Mapping[str, Dataset], side: Side) -> None:
        self.splits, self.side = splits, side
        self.texts = {name: captions_of(split) for name, split in splits.items()}

    @cached_property
    def all_texts(self) -> list[str]:
        """Every caption, in the order of the items."""
        return [text for split in self.texts.values() for own in split for text in own]

    def items(self) -> Items:
        """Who they are; of a caption, `metadata` names the image."""
        return Items.of(self.captions() if self.side == "caption" else self.images())

    def images(self) -> Iterator[Item]:
        """Every image with its captions."""
        for name, split in self.splits.items():
            for place, (id, texts) in enumerate(zip(ids(split), self.texts[name], strict=True)):
                yield Item(
                    id=id,
                    captions=tuple(texts),
                    picture=picture(split, place),
                    metadata={"split": name, "record": place},
                )

    def captions(self) -> Iterator[Item]:
        """Every caption of every image."""
        for image in self.images():
            for number, text in enumerate(image.captions):
                yield replace(
                    image,
                    id=f"{image.id}#{number}",
                    captions=(text,),
                    metadata={**image.metadata, "image": image.id},
                )

    def embed(self, system: Embedder, places: range) -> Embeddings:
        """The embeddings of some of them."""
        if self.side == "caption":
            found: Embeddings = system.encode_texts(self.all_texts[places.start : places.stop])
            return found
        parts, first = [], 0
        for split in self.splits.values():
            start, stop = max(places.start - first, 0), min(places.stop - first, len(split))
            if start < stop:
                parts.append(system.encode_dataset(stretch(split, start, stop)))
            first += len(split)
        return joined(parts)


@dataclass(frozen=True)
class Stretch:
    """The records of a split from one place to another, as a split."""

    dataset: Dataset = field(repr=False)
    places: range

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> Record:
        return self.dataset[self.places[index]]

    def captions(self, index: int) -> tuple[Caption, ...]:
        return self.dataset.captions(self.places[index])

    def images(self, indices: Sequence[int]) -> Images:
        return self.dataset.images([self.places[index] for index in indices])

    @property
    def fingerprint(self) -> str:
        return f"{self.dataset.fingerprint}-{self.places.start}-{self.places.stop}"

    @property
    def rule(self) -> str:
        return self.dataset.rule


def stretch(dataset: Dataset, start: int, stop: int) -> Dataset:
    """A part of a split, features and all."""
    if isinstance(dataset, Features):
        inner = stretch(dataset.dataset, start, stop)
        return replace(dataset, dataset=inner, rows=dataset.rows[start:stop])
    return Stretch(dataset, range(start, stop))


def ids(dataset: Dataset) -> Iterator[str]:
    """The id of every record, without touching a pixel where that is possible."""
    inner = dataset.dataset if isinstance(dataset, Features) else dataset
    if isinstance(inner, FolderSplit):
        yield from inner.ids
    elif isinstance(inner, Split):
        yield from (inner.world.id(int(item)) for item in inner.items)
    else:
        yield from (inner[place].id for place in range(len(inner)))


def picture(dataset: Dataset, place: int) -> str | None:
    """The file of a record's picture, where it has one."""
    inner = dataset.dataset if isinstance(dataset, Features) else dataset
    if isinstance(inner, FolderSplit):
        return str(inner.source.path / inner.items[place].name)
    return None
