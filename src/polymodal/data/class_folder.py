"""From the files of a zero-shot dataset to its splits."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Float64

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data import image_files
from polymodal.data.class_split import ClassedSplit
from polymodal.data.columns import Labels, Parts, Stored
from polymodal.data.folder import (
    Folder,
    FolderSplit,
    Item,
    Ledger,
    gather,
    with_pictures,
)
from polymodal.data.formats import awa2, cub_classes, sun
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.class_listing import Listing
from polymodal.data.formats.verified import sizes_of
from polymodal.data.formats.xlsa17 import Benchmark, check_fold, read_benchmark

READERS: Mapping[str, Callable[[Source, Benchmark], Listing]] = {
    "cub": cub_classes.read,
    "awa2": awa2.read,
    "sun": sun.read,
}
CONTENTS = {
    "cub": "CUB_200_2011, with images.txt, classes.txt, parts/ and images/",
    "awa2": "Animals_with_Attributes2, with predicates.txt and JPEGImages/",
    "sun": "SUNAttributeDB_Images, with images/",
}
"""What each dataset has in its folder."""


def open_classes(
    name: str,
    path: Path | str,
    *,
    splits: Path | str,
    size: int = 128,
    fold: int = 1,
    skip_bad: bool = False,
    progress: bool = True,
) -> Folder:
    """Open a zero-shot dataset; every split of the folder is a `ClassedSplit`.

    `trainval` and `test_seen` have images of the seen classes, `test` those of the unseen; `train`
    and `val` divide the classes of `trainval`, to select a model without a look at the others.

    Args:
        name: one of `READERS`.
        path: the dataset's folder, or a zip of it.
        splits: the folder of xlsa17 for this dataset.
        size: images come as size × size pixels.
        fold: which of xlsa17's three divisions of the seen classes gives `train` and `val`.
        skip_bad: leave out bad images and list them in `skipped`, instead of stopping.
        progress: show a bar while images are checked.
    """
    if name not in READERS:
        raise unknown("zero-shot dataset", name, READERS)
    image_files.check_size(size)
    check_fold(fold)
    if not Path(path).exists():
        kind = "file" if Path(path).suffix.lower() == ".zip" else "folder"
        raise PolymodalError(
            f"{path}: there is no such {kind}. {name}: needs the dataset's own folder, or a .zip of it: "
            f"{CONTENTS[name]}."
        )
    source = open_source(Path(path))
    benchmark = read_benchmark(Path(splits), fold)
    listing = READERS[name](source, benchmark)
    places = benchmark.places(listing.labels, listing.classes)
    ledger = Ledger(strict=not skip_bad)
    drafts = gather(iter(listing.entries), ledger)
    by_place = {d.entry.where: item for d, item in with_pictures(source, drafts, ledger, progress)}
    items = [by_place.get(entry.where) for entry in listing.entries]
    parts = None if listing.places is None else in_sides(listing.places, sizes(source, items))
    opened: dict[str, FolderSplit] = {}
    for split, rows in places.items():
        kept = np.array([row for row in rows if items[row]], np.int64)
        if not len(kept):
            raise PolymodalError(f"{benchmark.path}: the split {split!r} has no images.{ledger}")
        opened[split] = ClassedSplit(
            source=source,
            items=tuple(item for row in kept if (item := items[row])),
            size=size,
            label=Labels(
                listing.labels[kept],
                classes=listing.classes,
                attributes=listing.attributes,
                attribute_names=listing.attribute_names,
            ),
            parts=None
            if parts is None
            else Parts(len(kept), Stored(parts[kept]).batch, names=listing.part_names),
        )
    return Folder(opened, tuple(ledger.flaws))


def sizes(source: Source, items: Sequence[Item | None]) -> Float64[np.ndarray, "n 2"]:
    """The width and height of each image, 1 × 1 where there is none."""
    pixels = np.ones((len(items), 2))
    there = {row: item.name for row, item in enumerate(items) if item}
    pixels[[*there]] = sizes_of(source, [*there.values()])
    return pixels


def in_sides(
    places: Float32[np.ndarray, "n p 3"], sizes: Float64[np.ndarray, "n 2"]
) -> Float32[np.ndarray, "n p 3"]:
    """Places in pixels as places in sides of the centre square, which is what `pictures` keeps.

    >>> in_sides(np.array([[[150, 50, 1], [20, 50, 1]]], np.float32), np.array([[200.0, 100.0]]))
    array([[[1. , 0.5, 1. ],
            [0. , 0. , 0. ]]], dtype=float32)
    """
    side = sizes.min(1)[:, None, None]
    where = (places[..., :2] - (sizes[:, None] - side) / 2) / side
    seen = (places[..., 2] == 1) & ((where >= 0) & (where <= 1)).all(-1)
    return np.where(seen[..., None], np.insert(where, 2, 1, axis=-1), 0).astype(np.float32)
