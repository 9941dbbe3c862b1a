"""From folders of BraTS to splits by patient: four sequences, a mask, affines; read when asked for."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial as bound
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Float64, Shaped, UInt8

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data import image_files, volume_slices
from polymodal.data.columns import Column, Each, Masks, Scans, Stored
from polymodal.data.folder import Ledger
from polymodal.data.formats import brats, volumes
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.brats import LABELS, SEG, Scan
from polymodal.data.formats.entry import Flaw
from polymodal.data.formats.mask_labels import as_classes
from polymodal.data.formats.volumes import BadVolumeError, Extent
from polymodal.data.modalities import MR, TUMOUR
from polymodal.data.patient_splits import PatientSplits, by_patient
from polymodal.data.records import Dataset
from polymodal.data.scan_scales import BRIGHT, FileRule, brightened
from polymodal.data.side_by_side import each_read


@dataclass(frozen=True, kw_only=True)
class Volumes:
    """How scans are to be read."""

    crop: str = ""
    """Planes, rows and columns that are cut out of the middle, or filled up with 0: 128x160x160."""
    slices: int = 0
    """How many planes of each scan are items of their own, in place of the volume; 0 for volumes."""
    seed: int = 0
    """Another seed, another division of the patients."""
    splits: str = ""
    """A CSV with patient,split that takes the place of the seed."""
    partial: bool = False
    """Take scans that lack some modality."""
    scaled: bool = True
    """Divide each volume by nearly its brightest voxel; otherwise as in the files."""
    skip_bad: bool = field(default=False, metadata={"option": False})
    """Leave out what is bad and list it, after reading every file once, in place of stopping."""

    def __post_init__(self) -> None:
        if self.crop and (len(self.box) != 3 or not all(1 <= side <= 1024 for side in self.box)):
            raise PolymodalError(
                f"crop is planes, rows and columns, each from 1 to 1024, not {self.crop!r}. Write, say, "
                "crop=128x160x160."
            )
        if self.slices > 1024:
            raise PolymodalError(f"slices is at most 1024 of each scan, not {self.slices}.")

    @property
    def box(self) -> tuple[int, ...]:
        """The sides of what is cut out."""
        return tuple(int(side) if side.isdecimal() else 0 for side in self.crop.split("x"))

    @property
    def rule(self) -> FileRule:
        """How volumes of these scans are made; a box cuts voxels off and changes none."""
        return FileRule(scale="brightest" if self.scaled else "own", fit="kept")


def open_volumes(path: Path | str, how: Volumes, *, progress: bool = True) -> PatientSplits:
    """Open a folder of BraTS, or a zip of one; headers are checked at once, voxels when they are read.

    Args:
        path: the folder.
        how: what is to be read of it.
        progress: show a bar.
    """
    source, ledger = open_source(Path(path)), Ledger(strict=not how.skip_bad)
    scans: list[Scan] = []
    for one in brats.read(source, how.partial):
        if isinstance(one, Flaw):
            ledger.note(one.kind, one.where, one.reason)
        else:
            scans.append(one)
    kept, extents = _judged(source, scans, how, ledger, progress)
    if not kept:
        raise PolymodalError(f"{source.path}: no scan is left.{ledger}")
    table = _table(source, kept, extents, how, progress)
    parts = by_patient(table, seed=how.seed, listed=how.splits or None)
    return PatientSplits(parts, tuple(ledger.flaws))


def _judged(
    source: Source, scans: Sequence[Scan], how: Volumes, ledger: Ledger, progress: bool
) -> tuple[list[Scan], list[Extent]]:
    """The sound scans and how large they are, all of one shape."""
    kept: list[Scan] = []
    extents: list[Extent] = []
    own = bound(judge, source, how)
    with each_read(own, scans, "Checking scans", progress=progress) as judged:
        for scan, found in judged:
            if isinstance(found, Extent) and extents and not how.crop:
                found = _fitting(source, scan, found, kept[0], extents[0])
            if isinstance(found, Flaw):
                ledger.note(found.kind, found.where, found.reason)
            else:
                kept.append(scan)
                extents.append(found)
    return kept, extents


def _fitting(
    source: Source, scan: Scan, found: Extent, first: Scan, as_first: Extent
) -> Extent | Flaw:
    """How large a scan is, or that it is not as large as the first."""
    if found.shape == as_first.shape:
        return found
    reason = (
        f"it has the shape {told(found.shape)}, but {first.id} {told(as_first.shape)}. Bring all to one "
        "with ,crop=128x160x160, say."
    )
    return _flaw(source, scan, scan.files[SEG], reason, "another shape")


def judge(source: Source, how: Volumes, scan: Scan) -> Extent | Flaw:
    """How large a scan is, or what is wrong with it: all files of one shape and place."""
    known: dict[str, Extent] = {}
    for kind, name in scan.files.items():
        try:
            found = volumes.look(source, name)
            if how.skip_bad:
                _whole(source, scan, kind)
        except BadVolumeError as error:
            return _flaw(source, scan, name, str(error), "unreadable file")
        first, other = next(iter(known.items()), (kind, found))
        known[kind] = found
        if found.shape != other.shape:
            reason = f"its shape is {told(found.shape)}, but that of {first} {told(other.shape)}."
            return _flaw(source, scan, name, f"{reason} Bring them to one grid.", "another shape")
        if not np.allclose(found.affine, other.affine, atol=1e-3):
            far = np.abs(found.affine - other.affine).max()
            reason = f"its affine differs from that of {first} by up to {far:.3g} mm."
            return _flaw(source, scan, name, f"{reason} Register them first.", "another affine")
    return next(iter(known.values()))


def told(shape: Sequence[int]) -> str:
    """A shape in words: planes × rows × columns."""
    return "×".join(map(str, shape))


def _flaw(source: Source, scan: Scan, name: str, reason: str, kind: str) -> Flaw:
    return Flaw(kind, f"{source.path / name}: patient {scan.patient}", reason)


def _whole(source: Source, scan: Scan, kind: str) -> Shaped[np.ndarray, "d h w"]:
    """A file's voxels; those of a mask as classes."""
    values = volumes.read(source, scan.files[kind]).values
    if kind != SEG:
        return values
    found = as_classes(values, LABELS[scan.style], TUMOUR)
    if isinstance(found, str):
        raise BadVolumeError(found)
    return found


@dataclass(frozen=True)
class Reader:
    """Reads volumes of some scans, several at once."""

    source: Source
    scans: tuple[Scan, ...]
    how: Volumes

    def one(self, kind: str, row: int) -> Shaped[np.ndarray, "d h w"]:
        """A modality or the mask of one scan."""
        scan = self.scans[row]
        try:
            values = _whole(self.source, scan, kind)
        except BadVolumeError as error:
            name = scan.files[kind]
            raise _flaw(self.source, scan, name, str(error), "unreadable file").error() from error
        if kind != SEG:
            values = brightened(values) if self.how.scaled else values.astype(np.float32)
        return cut(values, self.how.box) if self.how.crop else values

    def many(self, kind: str, rows: Sequence[int]) -> Shaped[np.ndarray, "b d h w"]:
        """The same of some scans, stacked."""
        with ThreadPoolExecutor(image_files.threads(len(rows))) as pool:
            return np.stack(list(pool.map(bound(self.one, kind), rows)))

    def modality(self, kind: str, rows: Sequence[int]) -> Float32[np.ndarray, "b 1 d h w"]:
        """A modality of some scans."""
        return self.many(kind, rows)[:, None]

    def masks(self, rows: Sequence[int]) -> UInt8[np.ndarray, "b d h w"]:
        """The classes of some scans."""
        return self.many(SEG, rows)


def cut(values: Shaped[np.ndarray, "d h w"], box: Sequence[int]) -> Shaped[np.ndarray, "..."]:
    """The middle of a volume in a box of these sides, with 0 where it has nothing.

    >>> cut(np.arange(3).reshape(1, 1, 3), (1, 2, 2)).tolist()
    [[[0, 1], [0, 0]]]
    """
    found = np.zeros(tuple(box), values.dtype)
    here, there = [], []
    for side, wanted in zip(values.shape, box, strict=True):
        kept = min(side, wanted)
        start, place = (side - kept) // 2, (wanted - kept) // 2
        here.append(slice(start, start + kept))
        there.append(slice(place, place + kept))
    found[tuple(there)] = values[tuple(here)]
    return found


def moved(extent: Extent, box: Sequence[int]) -> Float64[np.ndarray, "4 4"]:
    """The affine of what `cut` gives."""
    starts = [
        (s - min(s, w)) // 2 - (w - min(s, w)) // 2 for s, w in zip(extent.shape, box, strict=True)
    ]
    found = extent.affine.copy()
    found[:3, 3] += found[:3, :3] @ np.array(starts[::-1], np.float64)
    return found


def _table(
    source: Source, scans: Sequence[Scan], extents: Sequence[Extent], how: Volumes, progress: bool
) -> Dataset:
    """The columns of all scans, or of planes of them."""
    reader, shape = Reader(source, tuple(scans), how), how.box if how.crop else extents[0].shape
    ids, patients = [scan.id for scan in scans], [scan.patient for scan in scans]
    kinds = [kind for kind in MR if any(kind in scan.files for scan in scans)]
    if how.slices:
        planes = volume_slices.planes_of(shape[0], how.slices)
        columns = volume_slices.columns_of(reader, kinds, planes, how.rule, progress)
        ids = [f"{id}/{plane:03d}" for id in ids for plane in planes.tolist()]
        patients = [patient for patient in patients for _ in planes]
        extent = f"{len(planes)} planes of {told(shape)}"
    else:
        columns, extent = _volumes(reader, kinds, extents), told(shape)
    columns["group"] = Each.of(patients)
    crop = "; the middle, cut out or filled up with 0" if how.crop else ""
    bright = f"of each volume the {BRIGHT:.1%} quantile of what is not 0 as 1"
    rule = f"{extent}{crop}; {bright if how.scaled else 'as in the files'}"
    digest = files.fingerprint({"scans": _facts(source, scans, extents), "rule": rule})
    return Dataset(columns, ids=ids, fingerprint=digest, rule=rule)


def _volumes(reader: Reader, kinds: Sequence[str], extents: Sequence[Extent]) -> dict[str, Column]:
    """Whole scans, read when they are asked for."""
    scans, how = reader.scans, reader.how
    columns: dict[str, Column] = {}
    for kind in kinds:
        there = np.array([kind in scan.files for scan in scans])
        present = None if there.all() else there
        some = bound(reader.modality, kind)
        columns[kind] = Scans(len(scans), some, present=present, rule=how.rule)
    columns["mask"] = Masks(len(scans), reader.masks, classes=TUMOUR)
    affines = [moved(extent, how.box) if how.crop else extent.affine for extent in extents]
    columns["affine"] = Stored(np.stack(affines))
    return columns


def _facts(source: Source, scans: Sequence[Scan], extents: Sequence[Extent]) -> list[object]:
    """What headers and names tell of scans, for the fingerprint."""
    return [
        [
            scan.id,
            [[kind, source.size(name)] for kind, name in sorted(scan.files.items())],
            extent.shape,
            hashlib.sha256(extent.affine.tobytes()).hexdigest(),
        ]
        for scan, extent in zip(scans, extents, strict=True)
    ]
