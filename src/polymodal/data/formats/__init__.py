"""Caption files that a folder may hold: one reader a format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.data.formats import (
    captions_csv,
    captions_jsonl,
    celeba,
    coco,
    cub_captions,
    karpathy,
)
from polymodal.data.formats.archive import Source
from polymodal.data.formats.entry import Entry, Flaw


@dataclass(frozen=True)
class Format:
    """How the files of a format are called, and what reads one of them."""

    patterns: tuple[str, ...]
    read: Callable[[Source, str], Iterator[Entry | Flaw]]
    several: bool = False
    """Whether a folder may hold more than one, each a split."""


FORMATS = (
    Format(("captions.csv",), captions_csv.read),
    Format(("captions.jsonl",), captions_jsonl.read),
    Format(("captions_*.json", "annotations/captions_*.json"), coco.read, several=True),
    Format(("dataset_*.json", "dataset.json"), karpathy.read),
    Format(("list_attr_celeba.txt", "Anno/list_attr_celeba.txt"), celeba.read),
    Format(("image_class_labels.txt", "CUB_200_2011/image_class_labels.txt"), cub_captions.read),
)


def read_entries(source: Source) -> Iterator[Entry | Flaw]:
    """Find the caption file, or files, of a source and read every entry."""
    files = {form: [n for p in form.patterns for n in source.glob(p)] for form in FORMATS}
    files = {form: names for form, names in files.items() if names}
    names = [name for several in files.values() for name in several]
    expected = (
        "captions.csv, captions.jsonl, captions_*.json (COCO), dataset_*.json (Karpathy), "
        "list_attr_celeba.txt (CelebA) or image_class_labels.txt (CUB)"
    )
    if not names:
        raise PolymodalError(
            f"{source.path}: no captions found. Expected one of {expected} in it; "
            "the simplest is a captions.csv with the columns image,caption."
        )
    form = next(iter(files))
    if len(files) > 1 or (len(names) > 1 and not form.several):
        raise PolymodalError(
            f"{source.path}: expected one caption file, found {', '.join(names)}. "
            f"Keep one of {expected}; move the others away."
        )
    empty = True
    for name in names:
        for entry in form.read(source, name):
            empty = False
            yield entry
    if empty:
        raise PolymodalError(
            f"{source.path / names[0]}: there is no caption in it. Write some, or give another file."
        )
