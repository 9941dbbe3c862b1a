"""Slices of scans as image files: a folder a patient, `NNN.webp` or `NNN_t1.png` with `NNN_mask.png`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find
from polymodal.data.formats.captions_csv import ENDINGS
from polymodal.data.formats.csv_rows import read_rows
from polymodal.data.formats.entry import Flaw

MASK = "_mask"
LIST = "slices.csv"


@dataclass(frozen=True)
class SliceFiles:
    """The files of one slice."""

    patient: str
    slice: str
    images: tuple[str | None, ...]
    """One file whose channels are modalities, or one each, None for a modality that is not there."""
    mask: str

    @property
    def id(self) -> str:
        """The slice's name."""
        return f"{self.patient}/{self.slice}"


def read(source: Source, modalities: Sequence[str], partial: bool) -> Iterator[SliceFiles | Flaw]:
    """Every slice of slices.csv, or where there is none, of the folders.

    Args:
        source: the folder of patients.
        modalities: each with a file of its own, `NNN_NAME.png`; none where they are channels of `NNN.png`.
        partial: whether a slice may lack modalities.
    """
    there = _files(source)
    ends = tuple(f"_{name}" for name in modalities) or ("",)
    wanted = _listed(source) if find(source, LIST) else _found(there, ends)
    empty = True
    for one in wanted:
        empty = False
        if isinstance(one, Flaw):
            yield one
            continue
        patient, slice, where = one
        names = [there.get(f"{patient}/{slice}{end}") for end in ends]
        mask = there.get(f"{patient}/{slice}{MASK}")
        lost = [f"{slice}{end}" for end, name in zip(ends, names, strict=True) if name is None]
        if partial and len(lost) < len(names):
            lost = []
        lost += [f"{slice}{MASK}"] * (mask is None)
        if lost or mask is None:
            at = f" (listed at {where})" * bool(where)
            reason = f"there is no file {' and no '.join(lost)}. Add it, or remove the slice."
            yield Flaw("missing file", f"{source.path / patient}: patient {patient}{at}", reason)
        else:
            yield SliceFiles(patient, slice, tuple(names), mask)
    if empty:
        files = "NNN_t1.png and the like" if modalities else "NNN.png"
        raise PolymodalError(
            f"{source.path}: there are no slices. Expected a folder for each patient, with {files} and "
            f"NNN{MASK}.png in it."
        )


def _found(files: Iterable[str], ends: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The patient and slice of each file that is a modality or a mask, sorted."""
    own = (*ends, MASK)
    for stem in sorted({_stem(name, own) for name in files if name.endswith(own)}, key=_natural):
        patient, _, slice = stem.partition("/")
        yield patient, slice, ""


def _files(source: Source) -> dict[str, str]:
    """Each image's file by its name without the ending."""
    found: dict[str, str] = {}
    for name in source.glob("*/*.*"):
        stem, _, ending = name.rpartition(".")
        if f".{ending}".lower() in ENDINGS:
            if stem in found:
                raise PolymodalError(
                    f"{source.path / name}: the slice {stem} is also {found[stem]}. Keep one of them."
                )
            found[stem] = name
    return found


def _stem(name: str, ends: Sequence[str]) -> str:
    """The slice that a file is of: its name without what says which modality it is."""
    for end in sorted(ends, key=len, reverse=True):
        if end and name.endswith(end):
            return name.removesuffix(end)
    return name


def _natural(name: str) -> list[tuple[int, str]]:
    """An order in which 2 comes before 10."""
    return [
        (int(part or 0), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)
    ]


def _listed(source: Source) -> Iterator[tuple[str, str, str] | Flaw]:
    """The patient and slice of each line, and where it stands."""
    known: dict[tuple[str, str], str] = {}
    for where, row in read_rows(source, LIST, "patient", "slice"):
        patient, slice = row.get("patient", ""), row.get("slice", "")
        if not patient or not slice or "/" in patient or "/" in slice or patient == "..":
            reason = (
                f"expected the names of a patient and a slice, found {patient!r} and {slice!r}."
            )
            yield Flaw("malformed entry", where, f"{reason} Mend the line.")
        elif (patient, slice) in known:
            reason = (
                f"the slice {slice} of patient {patient} is at {known[patient, slice]} already."
            )
            yield Flaw("duplicate slice", where, f"{reason} Remove one of the lines.")
        else:
            known[patient, slice] = where
            yield patient, slice, where
