"""CUB-200-2011 in its own files: birds of 200 classes, with the places of 15 parts."""

from math import isfinite
from pathlib import PurePosixPath

import numpy as np
from jaxtyping import Float32, Int64

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import in_words
from polymodal.data.formats.archive import Source, find, read_text
from polymodal.data.formats.class_listing import Listing, read_numbered
from polymodal.data.formats.cub_captions import ATTRIBUTES, IMAGES, LABELS, file_of
from polymodal.data.formats.entry import Entry
from polymodal.data.formats.two_columns import Cell
from polymodal.data.formats.xlsa17 import Benchmark

CLASSES, PARTS, PLACES = "classes.txt", "parts/parts.txt", "parts/part_locs.txt"


def read(source: Source, benchmark: Benchmark) -> Listing:
    """The images in the order of `images.txt`, in which the splits count."""
    home = PurePosixPath("CUB_200_2011" if find(source, f"CUB_200_2011/{IMAGES}") else "")
    images = read_numbered(source, file_of(source, home, IMAGES))
    classes = read_numbered(source, file_of(source, home, CLASSES))
    if len(classes) != len(benchmark.classes):
        raise PolymodalError(
            f"{source.path / file_of(source, home, CLASSES)}: found {len(classes)} classes, where the "
            f"splits have {len(benchmark.classes)}. Give CUB's splits, splits=…/xlsa17/CUB, or copy the "
            "file again."
        )
    cells = read_numbered(source, file_of(source, home, LABELS), len(images))
    labels = _labels(cells, len(classes))
    names = read_numbered(
        source, file_of(source, home, ATTRIBUTES, beside=True), benchmark.attributes.shape[1]
    )
    parts = read_numbered(source, file_of(source, home, PARTS))
    return Listing(
        entries=tuple(
            Entry(
                image=image,
                captions=(in_words(classes[label].value),),
                where=where,
                id=str(number),
                places=(str(home / "images"),),
            )
            for number, ((image, where), label) in enumerate(zip(images, labels, strict=True), 1)
        ),
        labels=labels,
        classes=tuple(name for name, _ in classes),
        attributes=benchmark.attributes[_order(classes, benchmark)],
        attribute_names=tuple(name for name, _ in names),
        places=_places(source, file_of(source, home, PLACES), len(images), len(parts)),
        part_names=tuple(name for name, _ in parts),
    )


def _labels(cells: list[Cell], classes: int) -> Int64[np.ndarray, " n"]:
    """Each image's class, counted from 0."""
    for label, where in cells:
        if not label.isdecimal() or len(label) > 18 or not 1 <= int(label) <= classes:
            raise PolymodalError(
                f"{where}: there is no class {label!r}: {CLASSES} has {classes} lines. "
                "Mend the label."
            )
    return np.array([int(label) - 1 for label, _ in cells], np.int64)


def _order(classes: list[Cell], benchmark: Benchmark) -> list[int]:
    """Where the benchmark has each of the dataset's classes: it orders them otherwise."""
    rows = {name: row for row, name in enumerate(benchmark.classes)}
    for name, where in classes:
        if name not in rows:
            raise PolymodalError(
                f"{where}: {name!r} is not among the {len(rows)} classes of {benchmark.path}. "
                "Give the splits of this dataset."
            )
    return [rows[name] for name, _ in classes]


def _places(source: Source, name: str, images: int, parts: int) -> Float32[np.ndarray, "n p 3"]:
    """Each part's x, y and visibility, from lines `IMAGE PART X Y VISIBLE`."""
    places = np.full((images, parts, 3), np.nan, np.float32)
    for number, line in enumerate(read_text(source, name).split("\n"), start=1):
        cells = line.split()
        if not cells:
            continue
        try:
            image, part, seen = int(cells[0]), int(cells[1]), int(cells[4])
            x, y = float(cells[2]), float(cells[3])
            known = 0 < image <= images and 0 < part <= parts
            if not (known and seen in (0, 1) and isfinite(x + y)):
                raise ValueError
        except (ValueError, IndexError) as error:
            raise PolymodalError(
                f"{source.path / name}:{number}: expected an image (1 to {images}), a part "
                f"(1 to {parts}), x, y, and 1 or 0, found {line.strip()!r}. Copy the file again."
            ) from error
        places[image - 1, part - 1] = x, y, seen
    absent = np.argwhere(np.isnan(places[..., 0]))
    if len(absent):
        image, part = absent[0] + 1
        raise PolymodalError(
            f"{source.path / name}: there is no line for part {part} of image {image}. "
            "Copy the file again."
        )
    return places
