"""Which split a photo of Flickr30K Entities is in: by Entities' own lists, or as in Flickr8k."""

import csv
from collections.abc import Callable, Mapping
from typing import NamedTuple

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_text

TABLE = "images.csv"
COLUMNS = ("id", "flickr8k_split", "original_width", "original_height")
FLICKR8K = {"train": "train", "dev": "val", "test": "test"}
"""Its names of splits, and ours."""

UNRELATED = "UNRELATED_CAPTIONS"


class Size(NamedTuple):
    """A photo's sides, and the line that tells them."""

    width: int
    height: int
    where: str

    def __str__(self) -> str:
        return f"{self.width}×{self.height} at {self.where}"


class Listed(NamedTuple):
    """The split of a photo, the line that says so, and the photo's size where it is told."""

    split: str
    where: str
    size: Size | None


def entities(source: Source) -> dict[str, Listed]:
    """The split of each photo by train.txt, val.txt and test.txt; its size by images.csv, if there."""
    listed: dict[str, Listed] = {}
    sizes = _table(source) if find(source, TABLE) else {}
    for split in ("train", "val", "test"):
        name = f"{split}.txt"
        if find(source, name) is None:
            raise PolymodalError(
                f"{source.path}: there is no {name}, Entities' own split. Copy it from the dataset, "
                f"or give split=flickr8k with an {TABLE}."
            )
        for row, line in enumerate(read_text(source, name).split("\n"), 1):
            id, where = line.strip(), f"{source.path / name}:{row}"
            if id in listed:
                raise PolymodalError(
                    f"{where}: the photo {id} is already in {listed[id].split} ({listed[id].where}). "
                    "Keep one of the two."
                )
            if id:
                listed[id] = Listed(split, where, sizes[id].size if id in sizes else None)
    return listed


def flickr8k(source: Source) -> dict[str, Listed]:
    """The split of each photo that Flickr8k has, by images.csv."""
    if find(source, TABLE) is None:
        raise PolymodalError(
            f"{source.path}: split=flickr8k needs an {TABLE} with the columns {', '.join(COLUMNS)}, "
            "and there is none. Write one, or give split=entities."
        )
    return {id: one for id, one in _table(source).items() if one.split}


SPLITS: Mapping[str, Callable[[Source], dict[str, Listed]]] = {
    "entities": entities,
    "flickr8k": flickr8k,
}


def _table(source: Source) -> dict[str, Listed]:
    """What images.csv says of each photo; the split is empty where it is not in Flickr8k."""
    path = source.path / TABLE
    rows = csv.reader(read_text(source, TABLE).splitlines())
    header = next(rows, [])
    if any(column not in header for column in COLUMNS):
        raise PolymodalError(
            f"{path}:1: expected the columns {', '.join(COLUMNS)}, found {', '.join(header) or 'none'}. "
            "Write such a first line."
        )
    listed: dict[str, Listed] = {}
    for row in rows:
        where = f"{path}:{rows.line_num}"
        cell = dict(zip(header, row, strict=False))
        id, split, width, height = (cell.get(column, "").strip() for column in COLUMNS)
        if not (id and width.isdecimal() and height.isdecimal() and split in ("", *FLICKR8K)):
            raise PolymodalError(
                f"{where}: expected an id, train, dev or test, and the photo's width and height, "
                f"found {','.join(row)!r}. Mend the line."
            )
        if id in listed:
            raise PolymodalError(
                f"{where}: the photo {id} stands already at {listed[id].where}. Keep one of the two."
            )
        size = Size(int(width), int(height), where)
        listed[id] = Listed(FLICKR8K.get(split, ""), where, size)
    return listed


def unrelated(source: Source) -> dict[str, list[int]]:
    """The captions of each photo, counted from 1, that are not about it; none where no file says."""
    sentences: dict[str, list[int]] = {}
    lines = read_text(source, UNRELATED).split("\n") if find(source, UNRELATED) else []
    for row, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 2 or not cells[1].isdecimal():
            raise PolymodalError(
                f"{source.path / UNRELATED}:{row}: expected a photo and the number of a sentence, "
                f"found {line.strip()!r}. Mend the line."
            )
        sentences.setdefault(cells[0], []).append(int(cells[1]))
    return sentences
