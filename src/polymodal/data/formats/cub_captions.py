"""CUB-200-2011 in its own files: birds, captioned by the attributes that tell their class from others.

A caption is at most nine words of its image's class: of the attributes that more than half of the
people saw in birds of the class, those seen most above their mean over all classes. They have no
order of their own: whoever learns from them shuffles them.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_text
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.two_columns import read_table

IMAGES, LABELS, PARTS = "images.txt", "image_class_labels.txt", "train_test_split.txt"
ATTRIBUTES = "attributes.txt"
PERCENTAGES = "attributes/class_attribute_labels_continuous.txt"

MOST = 9
"""The most words of a caption."""


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry an image; of the training images, those whose id ends in 0 are for validation."""
    home = PurePosixPath(name).parent
    captions = _captions(source, home)
    images, bad_images = read_table(source, file_of(source, home, IMAGES))
    labels, bad_labels = read_table(source, file_of(source, home, LABELS))
    parts, bad_parts = read_table(source, file_of(source, home, PARTS), ("0", "1"))
    yield from (*bad_images, *bad_labels, *bad_parts)
    tables = {IMAGES: images, LABELS: labels, PARTS: parts}
    for id in dict.fromkeys([*images, *labels, *parts]):
        files = {file: table[id] for file, table in tables.items() if id in table}
        where = next(iter(files.values())).where
        if len(files) < len(tables):
            absent = " and ".join(file for file in tables if file not in files)
            reason = f"the image {id!r} has no line in {absent}. Add it, or remove this line."
            yield Flaw("missing line", where, reason)
        elif labels[id].value not in captions:
            reason = (
                f"there is no class {labels[id].value!r}: {PERCENTAGES} has {len(captions)} lines."
            )
            yield Flaw("unknown class", labels[id].where, f"{reason} Mend the label.")
        else:
            trained = "val" if id.endswith("0") else "train"
            yield Entry(
                image=images[id].value,
                captions=(captions[labels[id].value],),
                where=where,
                id=id,
                split=trained if parts[id].value == "1" else "test",
                places=(str(home / "images"),),
            )


def word(attribute: str) -> str:
    """An attribute as one short word: the part of the bird, and what it is like.

    >>> word("has_bill_shape::curved_(up_or_down)"), word("has_tail_shape::forked_tail")
    ('bill_curved', 'tail_forked')
    """
    kind, _, value = attribute.removeprefix("has_").partition("::")
    part = re.sub(r"_(color|pattern|shape|length)$", "", kind)
    return f"{part}_{re.sub(rf'_[(].*[)]|[-_]{re.escape(part)}s?$', '', value)}"


def _captions(source: Source, home: PurePosixPath) -> dict[str, str]:
    """The caption of each class by its number."""
    words = _words(source, file_of(source, home, ATTRIBUTES, beside=True))
    seen = np.array(_percentages(source, file_of(source, home, PERCENTAGES), len(words)))
    captions = {}
    for number, (row, above) in enumerate(zip(seen, seen - seen.mean(0), strict=True), start=1):
        best = [k for k in np.argsort(-above, kind="stable") if row[k] > 50][:MOST]
        captions[str(number)] = " ".join(words[k] for k in sorted(best))
    return captions


def _words(source: Source, name: str) -> list[str]:
    """The attributes as words, in the order of the columns of PERCENTAGES."""
    table, flaws = read_table(source, name)
    if flaws:
        raise PolymodalError(f"{flaws[0].where}: {flaws[0].reason}")
    numbers: dict[str, str] = {}
    for expected, (number, (attribute, where)) in enumerate(table.items(), start=1):
        if number != str(expected) or "::" not in attribute:
            raise PolymodalError(
                f"{where}: expected {expected} and an attribute such as has_bill_shape::cone, found "
                f"{number} {attribute}. Copy the file again."
            )
        if numbers.setdefault(word(attribute), number) != number:
            raise PolymodalError(
                f"{where}: {attribute} would be the word {word(attribute)!r}, as attribute "
                f"{numbers[word(attribute)]} is. Rename one of them."
            )
    return list(numbers)


def _percentages(source: Source, name: str, columns: int) -> list[list[float]]:
    """How many in a hundred saw each attribute in birds of each class, a class a line."""
    rows = []
    for number, line in enumerate(read_text(source, name).split("\n"), start=1):
        where = f"{source.path / name}:{number}"
        try:
            row = [float(cell) for cell in line.split()]
        except ValueError as error:
            raise PolymodalError(f"{where}: {error}. Copy the file again.") from error
        if row and (len(row) != columns or not all(0 <= value <= 100 for value in row)):
            raise PolymodalError(
                f"{where}: expected {columns} percentages, one an attribute, found {len(row)} numbers "
                f"from {min(row):g} to {max(row):g}. Copy the file again."
            )
        rows += [row] if row else []
    if not rows:
        raise PolymodalError(f"{source.path / name}: the file is empty. Copy it again.")
    return rows


def file_of(source: Source, home: PurePosixPath, name: str, beside: bool = False) -> str:
    """A file of the dataset, or an error that says where it should be."""
    places = [str(home / name), *([name] if beside else [])]
    path = find(source, *places)
    if path is None:
        raise PolymodalError(
            f"{source.path}: CUB-200-2011 lacks {' or '.join(dict.fromkeys(places))}. "
            "Copy it from the dataset."
        )
    return path
