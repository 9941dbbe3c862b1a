"""From the files of a dataset with boxes to its splits: whole pictures, regions, layouts, captions."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data import image_files
from polymodal.data.folder import SPLITS, Folder, Item, Ledger, assign, gather, with_pictures
from polymodal.data.formats import coco_regions, entities, entities_splits, visual_genome
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.captions_csv import ENDINGS
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.joined import open_joined
from polymodal.data.formats.located import Box, Located
from polymodal.data.formats.verified import sizes_of
from polymodal.data.image_files import SQUASHED, WHOLE, Framing
from polymodal.data.records import Region
from polymodal.data.region_split import RegionSplit


def open_entities(
    path: Path | str,
    *,
    images: str,
    split: str = "entities",
    size: int = 256,
    skip_bad: bool = False,
    progress: bool = True,
) -> Folder:
    """Open Flickr30K Entities; every split is a `RegionSplit`, whose captions have phrases.

    Args:
        path: the folder of the annotations, or a zip of it.
        images: the folder or zip of the pictures, or several with + between them; ID.jpg, say.
        split: Entities' own split or that of Flickr8k: `entities` or `flickr8k`.
        size: pictures come whole in a square of size × size pixels.
        skip_bad: leave out what is bad and list it in `skipped`, instead of stopping.
        progress: show a bar while images are checked.
    """
    if split not in entities_splits.SPLITS:
        raise unknown("split of flickr30k:", split, entities_splits.SPLITS)
    image_files.check_size(size)
    source, ledger = open_source(Path(path)), Ledger(strict=not skip_bad)
    pictures = open_joined(images)
    listed = entities_splits.SPLITS[split](source)
    unrelated = entities_splits.unrelated(source)
    photos = entities.read(source, files_of(pictures, ledger), listed, unrelated)
    return _opened(pictures, photos, size, ledger, progress)


def open_coco(
    path: Path | str,
    *,
    images: str | None = None,
    captioned: bool = False,
    stuff: bool = False,
    squash: bool = False,
    size: int = 256,
    skip_bad: bool = False,
    progress: bool = True,
) -> Folder:
    """Open COCO's instances; every split is a `RegionSplit`, with captions where there are some.

    Args:
        path: the folder of the annotations, or a zip of it.
        images: the folder or zip of the pictures, where they are elsewhere.
        captioned: only images that have a caption.
        stuff: also the regions of stuff_*.json, and only images that have some, as sg2im.
        squash: pictures are stretched to squares, instead of gray bars beside them.
        size: pictures come whole in a square of size × size pixels.
        skip_bad: leave out what is bad and list it in `skipped`, instead of stopping.
        progress: show a bar while images are checked.
    """
    image_files.check_size(size)
    source, ledger = open_source(Path(path)), Ledger(strict=not skip_bad)
    pictures = source if images is None else open_joined(images)
    photos = coco_regions.read(source, captioned, stuff)
    return _opened(pictures, photos, size, ledger, progress, SQUASHED if squash else WHOLE)


def open_genome(
    path: Path | str,
    *,
    images: str | None = None,
    instances: int = visual_genome.INSTANCES,
    relationships: int = visual_genome.RELATIONSHIPS,
    size: int = 64,
    skip_bad: bool = False,
    progress: bool = True,
) -> Folder:
    """Open Visual Genome as sg2im divides and filters it; every split is a `RegionSplit`.

    Args:
        path: the folder of the annotations, or a zip of it.
        images: the folder with VG_100K and VG_100K_2 in it, where they are elsewhere.
        instances: a name is a class if so many objects of training images have it.
        relationships: a predicate counts if training images have it so often.
        size: pictures are stretched to size × size pixels.
        skip_bad: leave out what is bad and list it in `skipped`, instead of stopping.
        progress: show a bar while images are checked.
    """
    image_files.check_size(size)
    source, ledger = open_source(Path(path)), Ledger(strict=not skip_bad)
    pictures = source if images is None else open_joined(images)
    photos = visual_genome.read(source, instances, relationships)
    return _opened(pictures, photos, size, ledger, progress, SQUASHED)


def files_of(source: Source, ledger: Ledger) -> dict[str, str]:
    """Each photo's file by its id, which is the file's name up to a dot or, as in Flickr8k, a _."""
    by_id: dict[str, str] = {}
    for name in [n for pattern in ("*.*", "*/*.*") for n in source.glob(pattern)]:
        file = name.rpartition("/")[2]
        if not file.lower().endswith(ENDINGS):
            continue
        id = file.rpartition(".")[0].partition("_")[0]
        if id in by_id:
            reason = f"the photo {id} is also {by_id[id]}. Keep one of the two files."
            ledger.note("duplicate image", str(source.path / name), reason)
        else:
            by_id[id] = name
    return by_id


def _opened(
    source: Source,
    read: Iterator[Located | Flaw],
    size: int,
    ledger: Ledger,
    progress: bool,
    framing: Framing = WHOLE,
) -> Folder:
    """The splits of what a reader found, with pictures from a source."""
    located: dict[str, Located] = {}

    def entries() -> Iterator[Entry | Flaw]:
        for one in read:
            if isinstance(one, Located):
                located[one.entry.where] = one
            yield one.entry if isinstance(one, Located) else one

    drafts = assign(gather(entries(), ledger), ledger)
    pairs = with_pictures(source, drafts, ledger, progress)
    sizes = sizes_of(source, [item.name for _, item in pairs])
    parts: dict[str, list[tuple[Item, tuple[Region, ...]]]] = {split: [] for split in SPLITS}
    for (draft, item), (width, height) in zip(pairs, sizes, strict=True):
        one = located[item.where]
        if abs(width * one.height - height * one.width) > one.width + one.height:
            reason = (
                f"the file has {width}×{height} pixels, but its boxes are in a picture of "
                f"{one.width}×{one.height}, of another shape. Give the picture that was annotated."
            )
            ledger.note("sizes disagree", f"{source.path / item.name} (at {item.where})", reason)
            continue
        place = (0, 0, size, size)
        if framing is WHOLE:
            place = image_files.place_in_square(width, height, size)
        regions = tuple(
            replace(region, box=rescaled(region.box, one.width, one.height, place))
            for region in one.regions
            if region.box is not None
        )
        parts[draft.split or ""].append((replace(item, captions=one.captions), regions))
    opened = {
        split: RegionSplit(
            source, [item for item, _ in rows], size, [shown for _, shown in rows], framing
        )
        for split, rows in parts.items()
        if rows
    }
    if not opened:
        raise PolymodalError(f"{source.path}: no picture with annotations is left.{ledger}")
    return Folder(dict(opened), tuple(ledger.flaws))


def rescaled(box: Box, width: int, height: int, place: tuple[int, int, int, int]) -> Box:
    """A box of a picture width × height, where the picture fills this place of a square.

    >>> rescaled((0, 75, 500, 375), 500, 375, (0, 32, 256, 224))
    (0.0, 70.4, 256.0, 224.0)
    """
    left, top, right, bottom = place
    across, down = (right - left) / width, (bottom - top) / height
    x0, y0, x1, y1 = box
    return left + x0 * across, top + y0 * down, left + x1 * across, top + y1 * down
