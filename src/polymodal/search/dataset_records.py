"""The records of some splits as what an index holds: items to be found, and their embeddings."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from polymodal.data.pairs import captions_of
from polymodal.data.records import Dataset
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
        return [
            text for split in self.texts.values() for image_texts in split for text in image_texts
        ]

    def items(self) -> Items:
        """Who they are; of a caption, `metadata` names the image."""
        return Items.of(self.captions() if self.side == "caption" else self.images())

    def images(self) -> Iterator[Item]:
        """Every image with its captions."""
        for name, split in self.splits.items():
            files = split.columns.get("file")
            for place, (id, texts) in enumerate(zip(split.ids, self.texts[name], strict=True)):
                yield Item(
                    id=id,
                    captions=tuple(texts),
                    picture=files[place] if files else None,
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
            embeddings: Embeddings = system.encode_captions(
                self.all_texts[places.start : places.stop]
            )
            return embeddings
        parts, first = [], 0
        for split in self.splits.values():
            start, stop = max(places.start - first, 0), min(places.stop - first, len(split))
            if start < stop:
                parts.append(system.encode_dataset(split.take(range(start, stop))))
            first += len(split)
        return joined(parts)
