"""Sentences without pictures: a text file with one a line, for a language model alone."""

import re
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Captions
from polymodal.data.folder import SPLITS, split_of
from polymodal.data.formats.archive import Directory, read_text
from polymodal.data.records import Caption, Dataset

MARKED = re.compile(r"\[/EN#\S+ ([^\]]*)\]")
"""A phrase as Flickr30K Entities marks it, `[/EN#1/people Two men]`; the marks are left out."""


def open_sentences(path: Path | str) -> dict[str, Dataset]:
    """The splits of a text file: each line is a sentence, or an id, a tab and a sentence.

    The hash of the id decides the split, so that what is said of one picture stays together; without
    an id that of the sentence.
    """
    path = Path(path)
    if not path.is_file():
        raise PolymodalError(
            f"There is no text file at {path}. Name one with a sentence a line, as text:captions.txt."
        )
    items: dict[str, list[tuple[str, str]]] = {split: [] for split in SPLITS}
    for number, line in enumerate(read_text(Directory(path.parent), path.name).split("\n"), 1):
        owner, _, sentence = line.rpartition("\t")
        if sentence := MARKED.sub(r"\1", sentence).strip():
            items[split_of(owner or sentence)].append((f"{path.name}:{number}", sentence))
    if not any(items.values()):
        raise PolymodalError(f"{path} has no sentence. Write one a line.")
    return {
        split: Dataset(
            {"captions": Captions.of([(Caption(text),) for _, text in some])},
            ids=[id for id, _ in some],
        )
        for split, some in items.items()
        if some
    }
