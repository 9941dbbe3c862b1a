"""Your own data: a folder of images with captions, or a zip of one, as splits of records."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data import image_files
from polymodal.data.columns import Captions, Column, Each, Read
from polymodal.data.formats import read_entries
from polymodal.data.formats.archive import Source, find, open_source
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.verified import Verified
from polymodal.data.image_files import SQUARE, Framing
from polymodal.data.records import Caption, Dataset, Images

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Item:
    """An image of a folder, with its captions, before it is read."""

    id: str
    name: str
    """The image's file, relative to the folder."""
    captions: tuple[Caption, ...]
    where: str


@dataclass(frozen=True)
class Files:
    """What a folder's columns are read from; apart from the split, so that both go when they are let go,
    an open zip with them."""

    source: Source
    items: tuple[Item, ...]
    size: int
    framing: Framing = SQUARE

    def said(self, index: int) -> tuple[Caption, ...]:
        """The captions of one image."""
        return self.items[index].captions

    def place(self, index: int) -> str:
        """Where its file is."""
        return str(self.source.path / self.items[index].name)

    def images(self, indices: Sequence[int]) -> Images:
        """A batch of images as the framing's rule makes them, decoded in parallel."""
        out = np.empty((len(indices), self.size, self.size, 3), np.uint8)
        with ThreadPoolExecutor(image_files.threads(len(indices))) as pool:
            for row, pixels in enumerate(pool.map(self.read, indices)):
                out[row] = pixels
        return out

    def read(self, index: int) -> np.ndarray:
        """One image."""
        item = self.items[index]
        try:
            length = self.source.size(item.name)
            if length is None:
                raise FileNotFoundError("it was there when the folder was opened")
            with self.source.open(item.name) as file:
                return image_files.read(file, length, self.size, self.framing)
        except image_files.BadPictureError as error:
            place = f"{self.source.path / item.name} (named at {item.where})"
            raise Flaw(error.kind, place, str(error)).error() from error
        except OSError as error:
            raise PolymodalError(
                f"{self.source.path / item.name}: could not be read ({error}). "
                "Was it moved? Open the folder again."
            ) from error


class FolderSplit(Dataset):
    """A split of a folder, whose images are decoded by a pool of threads."""

    framing = SQUARE

    def __init__(self, source: Source, items: Sequence[Item], size: int, **more: Column) -> None:
        self.source, self.items, self.size = source, tuple(items), size
        n, read = len(self.items), Files(source, self.items, size, self.framing)
        spoken = np.array([bool(item.captions) for item in self.items], np.bool_)
        columns: dict[str, Column] = {
            "image": Read(n, read.images),
            "captions": Captions(n, read.said, present=None if spoken.all() else spoken),
            "file": Each(n, read.place),
        }
        if n and not spoken.any():
            del columns["captions"]
        ids = tuple(item.id for item in self.items)
        super().__init__(columns | more, ids=ids, rule=f"{size}×{size}: {self.framing.rule}")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, captions, size and the rule of resizing; not of the folder's place."""
        texts = [[item.id, [caption.text for caption in item.captions]] for item in self.items]
        return files.fingerprint({"items": texts, "size": self.size, "rule": self.framing.rule})


@dataclass(frozen=True)
class Folder(Mapping[str, FolderSplit]):
    """The splits of a folder by name, and what was left out of them."""

    splits: dict[str, FolderSplit]
    skipped: tuple[Flaw, ...] = ()

    def __getitem__(self, split: str) -> FolderSplit:
        return self.splits[split]

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)


def open_folder(
    path: Path | str,
    *,
    size: int = 224,
    skip_bad: bool = False,
    splits: Sequence[str] | None = None,
    progress: bool = True,
) -> Folder:
    """Open a folder (or a .zip) of images with captions in one of the formats of `formats`.

    Where the captions name no split, an image's id decides: see `split_of`. The images' presence,
    length and header are checked here; damage further in is found when they are decoded.

    Args:
        path: the folder or zip.
        size: images come as size × size pixels.
        skip_bad: leave out what is bad and list it in `skipped`, after decoding every image once
            (the verdicts are cached), instead of stopping at the first.
        splits: which splits to open, all by default.
        progress: show a bar while images are checked.
    """
    image_files.check_size(size)
    for name in splits or ():
        if name not in SPLITS:
            raise unknown("split", name, SPLITS)
    source = open_source(Path(path))
    ledger = Ledger(strict=not skip_bad)
    drafts = assign(gather(read_entries(source), ledger), ledger)
    drafts = [draft for draft in drafts if splits is None or draft.split in splits]
    items = with_pictures(source, drafts, ledger, progress)
    opened = {
        split: FolderSplit(source, tuple(item for d, item in items if d.split == split), size)
        for split in SPLITS
    }
    for name in splits or ():
        if not opened[name]:
            raise PolymodalError(f"{source.path}: the split {name!r} has no images.{ledger}")
    if not items:
        raise PolymodalError(f"{source.path}: no image with a caption is left.{ledger}")
    return Folder({s: opened[s] for s in SPLITS if len(opened[s])}, tuple(ledger.flaws))


def split_of(id: str) -> str:
    """The split of a record that names none: by its id's hash 80 % train, 10 % val, 10 % test.

    It depends on nothing but the id, so adding images moves none from one split to another.

    >>> [split_of(f"{number}.jpg") for number in range(6)]
    ['train', 'train', 'train', 'val', 'train', 'train']
    """
    point = int.from_bytes(hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    tenth = point * 10 >> 64
    return "train" if tenth < 8 else "val" if tenth == 8 else "test"


@dataclass
class Ledger:
    """Flaws: the first stops a strict reading, others are listed."""

    strict: bool
    flaws: list[Flaw] = field(default_factory=list)

    def note(self, kind: str, where: str, reason: str) -> None:
        flaw = Flaw(kind, where, reason)
        if self.strict:
            raise flaw.error()
        self.flaws.append(flaw)

    def __str__(self) -> str:
        """How many were left out, and the first, to end a message with."""
        if not self.flaws:
            return ""
        first = self.flaws[0]
        return f" {len(self.flaws)} were bad and left out, first {first.where}: {first.reason}"


@dataclass
class Draft:
    """An image gathered from one or more entries."""

    entry: Entry
    id: str
    captions: list[str]
    split: str | None


def gather(entries: Iterator[Entry | Flaw], ledger: Ledger) -> list[Draft]:
    """Join the entries of each image; drop or refuse what is wrong in the text alone."""
    drafts: dict[str, Draft] = {}
    owner: dict[tuple[tuple[str, ...], str], str] = {}
    for entry in entries:
        if isinstance(entry, Flaw):
            ledger.note(entry.kind, entry.where, entry.reason)
            continue
        captions = _texts(entry, ledger)
        if captions is None:
            continue
        id = entry.image if entry.id is None else entry.id
        earlier = drafts.get(id)
        holder = owner.setdefault((entry.places, entry.image), id)
        if earlier is None and holder == id:
            drafts[id] = Draft(entry, id, captions, entry.split)
        elif earlier is None:
            reason = f"{entry.image!r} already has the id {holder!r} ({drafts[holder].entry.where})"
            ledger.note("duplicate image", entry.where, f"the image {reason}. Keep one id.")
        elif entry.whole or earlier.entry.whole or earlier.entry.image != entry.image:
            reason = f"the id {id!r} is already that of {earlier.entry.where}"
            ledger.note("duplicate id", entry.where, f"{reason}. Give each image an id of its own.")
        elif entry.split != earlier.split:
            reason = f"split {entry.split!r}, but {earlier.split!r} at {earlier.entry.where}"
            ledger.note("two splits", entry.where, f"{reason}. Put an image in one split only.")
        else:
            earlier.captions.extend(captions)
    return list(drafts.values())


def _texts(entry: Entry, ledger: Ledger) -> list[str] | None:
    """The captions that hold something, if the rest of the entry is sound as well, else None."""
    path = PurePosixPath(entry.image)
    if not entry.image:
        ledger.note("caption without image", entry.where, "no image is named. Name its file.")
    elif any(PurePosixPath(place, path).is_absolute() for place in entry.places) or any(
        ".." in PurePosixPath(place, path).parts for place in entry.places
    ):
        reason = f"the image {entry.image!r} lies outside the folder. Move it in and name it so."
        ledger.note("outside the folder", entry.where, reason)
    elif entry.split is not None and entry.split not in SPLITS:
        error = unknown("split", entry.split, SPLITS)
        ledger.note("unknown split", entry.where, f"{error} Write one of these.")
    elif not entry.captions and not entry.wordless:
        reason = f"the image {entry.image!r} has no caption. Add one, or remove the entry."
        ledger.note("image without caption", entry.where, reason)
    else:
        kept = [caption.strip() for caption in entry.captions if caption.strip()]
        for _ in range(len(entry.captions) - len(kept)):
            reason = f"a caption of {entry.image!r} is empty. Write it, or remove it."
            ledger.note("empty caption", entry.where, reason)
        return kept if kept or entry.wordless else None
    return None


def assign(drafts: list[Draft], ledger: Ledger) -> list[Draft]:
    """Give every draft a split: its own, or where none has one, that of its id."""
    if all(draft.split is None for draft in drafts):
        for draft in drafts:
            draft.split = split_of(draft.id)
    for draft in drafts:
        if draft.split is None:
            reason = "no split, though other entries have one. Write train, val or test."
            ledger.note("no split", draft.entry.where, reason)
    return [draft for draft in drafts if draft.split is not None]


def with_pictures(
    source: Source, drafts: list[Draft], ledger: Ledger, progress: bool
) -> list[tuple[Draft, Item]]:
    """Find and check every draft's image: by its header, or wholly where bad ones are skipped."""
    by_file: dict[str, tuple[Draft, Item]] = {}
    for draft in drafts:
        entry = draft.entry
        names = [str(PurePosixPath(place, entry.image)) for place in entry.places]
        name = find(source, *names)
        if name is None:
            looked = " or ".join(dict.fromkeys(names))
            reason = f"there is no file {looked} in {source.path}. Add it, or remove the entry."
            ledger.note("missing image", entry.where, reason)
        elif name in by_file:
            reason = f"the image {name} is already named at {by_file[name][1].where}"
            ledger.note("duplicate image", entry.where, f"{reason}. Name it in one way only.")
        else:
            captions = tuple(Caption(text) for text in draft.captions)
            by_file[name] = draft, Item(draft.id, name, captions, entry.where)
    verdicts = Verified(source, whole=not ledger.strict, threads=image_files.threads(len(by_file)))
    kept = []
    with contextlib.closing(verdicts.judge(list(by_file), progress)) as judged:
        for pair, verdict in zip(by_file.values(), judged, strict=True):
            if verdict is None:
                kept.append(pair)
            else:
                place = f"{source.path / pair[1].name} (named at {pair[1].where})"
                ledger.note(verdict[0], place, verdict[1])
    return kept
