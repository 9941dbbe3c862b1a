"""From slices in image files to splits by patient: modalities as channels or files, and a mask."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial as bound
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Shaped, UInt8
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files
from polymodal.data.columns import Column, Each, Masks, Scans, Stored
from polymodal.data.folder import Ledger
from polymodal.data.formats import slice_files
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.entry import Flaw
from polymodal.data.formats.mask_labels import as_classes, places_of
from polymodal.data.formats.slice_files import SliceFiles
from polymodal.data.patient_splits import PatientSplits, by_patient
from polymodal.data.records import Dataset
from polymodal.data.scan_scales import FileRule, Fit, shares
from polymodal.data.scan_sizes import fitted
from polymodal.data.side_by_side import each_read


@dataclass(frozen=True, kw_only=True)
class Slices:
    """How slices of patients are to be read."""

    channels: tuple[str, ...] = ()
    """The modalities that are the channels of `NNN.png`, in their order."""
    files: tuple[str, ...] = ()
    """The modalities that have a file of their own, `NNN_t1.png` and the like."""
    classes: tuple[str, ...] = ("background", "tumour")
    """The classes of the mask, by its numbers from 0; of two, the second may be 255."""
    size: int = 0
    """Width and height that slices are resized to, bars of 0 beside their shorter side; 0 keeps them."""
    seed: int = 0
    """Another seed, another division of the patients."""
    splits: str = ""
    """A CSV with patient,split that takes the place of the seed."""
    partial: bool = False
    """Take slices that lack modalities with a file of their own."""
    skip_bad: bool = field(default=False, metadata={"option": False})
    """Leave out what is bad and list it, in place of stopping."""

    def __post_init__(self) -> None:
        if bool(self.channels) == bool(self.files):
            raise PolymodalError(
                "Modalities are channels of one file or files of their own. Give one of the two: "
                ",channels=t1+flair+t1c or ,files=t1+flair+t1c."
            )
        if len(self.classes) < 2 or len(self.classes) > 255:
            raise PolymodalError(
                f"A mask has 2 to 255 classes, but classes names {len(self.classes)}. "
                "Write ,classes=background+tumour, say."
            )
        if self.size:
            image_files.check_size(self.size)

    @property
    def modalities(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.channels or self.files


@dataclass(frozen=True)
class Slice:
    """What was read of one slice."""

    values: Shaped[np.ndarray, "c h w"]
    present: tuple[bool, ...]
    mask: UInt8[np.ndarray, "h w"]


def open_slices(path: Path | str, how: Slices, *, progress: bool = True) -> PatientSplits:
    """Open a folder of slices, or a zip of one; all are decoded at once and kept as they are.

    Args:
        path: the folder, with one in it for each patient.
        how: which modalities and classes there are.
        progress: show a bar.
    """
    source, ledger = open_source(Path(path)), Ledger(strict=not how.skip_bad)
    wanted: list[SliceFiles] = []
    for one in slice_files.read(source, how.files, how.partial):
        if isinstance(one, Flaw):
            ledger.note(one.kind, one.where, one.reason)
        else:
            wanted.append(one)
    kept, read = _read_all(source, wanted, how, ledger, progress)
    if not read:
        raise PolymodalError(f"{source.path}: no slice is left.{ledger}")
    dataset = _table(kept, read, how)
    parts = by_patient(dataset, seed=how.seed, listed=how.splits or None)
    return PatientSplits(parts, tuple(ledger.flaws))


def _read_all(
    source: Source, wanted: Sequence[SliceFiles], how: Slices, ledger: Ledger, progress: bool
) -> tuple[list[SliceFiles], list[Slice]]:
    """Every sound slice, all of one shape and type."""
    kept: list[SliceFiles] = []
    read: list[Slice] = []
    own = bound(read_slice, source, how)
    with each_read(own, wanted, "Reading slices", progress=progress) as slices:
        for one, found in slices:
            if isinstance(found, Slice) and read and not alike(found, read[0]):
                first, shape = kept[0], list(read[0].values.shape[1:])
                found = Flaw(
                    "another shape",
                    f"{source.path / one.mask}: patient {one.patient}",
                    f"the slice is {found.values.dtype} of {list(found.values.shape[1:])}, but "
                    f"{first.id} {read[0].values.dtype} of {shape}. Bring all to one size with "
                    ",size=128, say.",
                )
            if isinstance(found, Flaw):
                ledger.note(found.kind, found.where, found.reason)
            else:
                kept.append(one)
                read.append(found)
    return kept, read


def alike(one: Slice, other: Slice) -> bool:
    """Whether two slices fit into one array."""
    a, b = one.values, other.values
    return a.shape == b.shape and a.dtype == b.dtype


def read_slice(source: Source, how: Slices, one: SliceFiles) -> Slice | Flaw:
    """One slice, or what is wrong with it: the patient and the file."""
    arrays: list[np.ndarray | None] = []
    for name in (*one.images, one.mask):
        found = None if name is None else _numbers(source, name, one.patient)
        if isinstance(found, Flaw):
            return found
        arrays.append(found)
    *images, mask = arrays
    there = [image for image in images if image is not None]
    for name, image in zip((*one.images, one.mask), arrays, strict=True):
        reason = None if image is None else _misfit(image, name == one.mask, there[0], how)
        if reason is not None:
            where = f"{source.path / str(name)}: patient {one.patient}"
            return Flaw("misfit", where, reason)
    classes = as_classes(np.asarray(mask), places_of(how.classes), how.classes)
    if isinstance(classes, str):
        return Flaw("unknown label", f"{source.path / one.mask}: patient {one.patient}", classes)
    present = (True,) * len(how.channels) or tuple(image is not None for image in images)
    if how.channels:
        values = np.moveaxis(there[0].reshape(*there[0].shape[:2], -1), 2, 0)
    else:
        empty = np.zeros_like(there[0])
        values = np.stack([empty if image is None else image for image in images])
    if how.size:
        values = fitted(values, (how.size, how.size))
        classes = fitted(classes, (how.size, how.size), Image.Resampling.NEAREST)
    return Slice(values, present, classes)


def _numbers(source: Source, name: str, patient: str) -> np.ndarray | Flaw:
    """A file's numbers, or why there are none."""
    where = f"{source.path / name}: patient {patient}"
    try:
        with source.open(name) as file:
            found: np.ndarray = image_files.numbers(file, source.size(name) or 0)
            return found
    except image_files.BadPictureError as error:
        return Flaw(error.kind, where, str(error))
    except (OSError, zipfile.BadZipFile) as error:
        return Flaw("unreadable file", where, f"could not be read ({error}). Copy it again.")


def _misfit(image: np.ndarray, is_mask: bool, first: np.ndarray, how: Slices) -> str | None:
    """Why a file does not fit the slice that it is of, in words."""
    channels = 1 if image.ndim == 2 else image.shape[2]
    expected = 1 if is_mask or how.files else len(how.channels)
    if channels != expected:
        what = "the mask" if is_mask else "the image"
        names = "" if is_mask or how.files else f" ({', '.join(how.channels)})"
        return (
            f"{what} has {channels} channel{'s' * (channels != 1)}, but {expected}{names} "
            "are expected. Save it so, or name other channels."
        )
    if image.shape[:2] != first.shape[:2]:
        return (
            f"it has {image.shape[0]}×{image.shape[1]} pixels, but the slice's first file "
            f"{first.shape[0]}×{first.shape[1]}. Give files that lie on one another."
        )
    if not is_mask and image.dtype != first.dtype:
        return f"it is {image.dtype}, but the slice's first file {first.dtype}. Save all alike."
    return None


def _table(kept: Sequence[SliceFiles], read: Sequence[Slice], how: Slices) -> Dataset:
    """The columns of all slices."""
    n = len(read)
    values = np.stack([one.values for one in read])
    there = np.array([one.present for one in read])
    columns: dict[str, Column] = {}
    for k, name in enumerate(how.modalities):
        if not there[:, k].any():
            raise PolymodalError(
                f"No slice has the modality {name!r}. Is it written so in the files' names?"
            )
        present = None if there[:, k].all() else there[:, k]
        channel, channels = (k, len(how.channels)) if how.channels else (0, 1)
        fit: Fit = "resized" if how.size else "free"
        own = FileRule(scale="shares", channel=channel, channels=channels, fit=fit)
        columns[name] = Scans(n, bound(some, values[:, k]), present=present, rule=own)
    columns["mask"] = Masks(n, Stored(np.stack([s.mask for s in read])).batch, classes=how.classes)
    columns["group"] = Each.of([one.patient for one in kept])
    height, width = values.shape[2:]
    shape = "in a square, bicubic" if how.size else "as in the files"
    rule = f"{height}×{width}: {shape}; {values.dtype} as shares of its largest number"
    return Dataset(columns, ids=[one.id for one in kept], rule=rule)


def some(
    values: Shaped[np.ndarray, "n h w"], rows: Sequence[int]
) -> Float32[np.ndarray, "b 1 h w"]:
    """Some planes as shares of the largest number of their type."""
    return shares(values[np.asarray(rows, np.int64), None])
