"""From Open-I's films and reports to splits by patient: images, text, findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data import image_files
from polymodal.data.columns import Column, Each, Targets
from polymodal.data.folder import SPLITS, FolderSplit, Item, Ledger, gather, with_pictures
from polymodal.data.formats import open_i
from polymodal.data.formats.archive import Source, open_source
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.joined import open_joined
from polymodal.data.formats.open_i import Film
from polymodal.data.patient_splits import PatientSplits, by_patient
from polymodal.data.records import Dataset

SHARES: Mapping[str, float] = {"train": 0.7, "val": 0.1, "test": 0.2}
"""How much of the films each split has where a seed divides them, as in R2Gen's split."""

SECTIONS = ("report", "findings", "impression")


@dataclass(frozen=True, kw_only=True)
class Films:
    """How films with reports are to be read."""

    images: str = ""
    """The folder or zip of the images, where they are not beside the reports; several with + between."""
    text: str = "report"
    """report, or one section of it: findings or impression."""
    labels: tuple[str, ...] = ()
    """Which labels are the targets; all by default."""
    size: int = 224
    """Width and height of the images, the centre square of each."""
    seed: int = -1
    """A division of the patients by this seed, in place of the table's own."""
    splits: str = ""
    """A CSV with patient,split that takes the place of both."""
    skip_bad: bool = field(default=False, metadata={"option": False})
    """Leave out what is bad and list it, in place of stopping."""

    def __post_init__(self) -> None:
        image_files.check_size(self.size)
        if self.text not in SECTIONS:
            raise unknown("text of open-i:", self.text, SECTIONS)


class FilmSplit(FolderSplit):
    """Films with their reports and findings."""

    def __init__(
        self, source: Source, items: Sequence[Item], films: Sequence[Film], how: Films
    ) -> None:
        names = tuple(films[0].labels)
        for name in how.labels:
            if name not in names:
                raise unknown("label of open-i:", name, names)
        classes = tuple(how.labels) or names
        values = [[film.labels[name] for name in classes] for film in films]
        more: dict[str, Column] = {
            "targets": Targets(np.array(values, np.float32), classes=classes),
            "group": Each.of([film.patient for film in films]),
        }
        texts = [said(film, how.text) for film in films]
        if any(texts):
            more["text"] = Each.of([text or None for text in texts])
        super().__init__(source, items, how.size, **more)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, texts, findings, size and the rule of resizing."""
        texts = list(self.columns["text"]) if "text" in self.columns else []  # type: ignore[call-overload]
        targets = self.column("targets")
        told = [targets.classes, targets.values.tolist(), texts]
        return files.fingerprint({"pictures": super().fingerprint, "told": told})


def said(film: Film, section: str) -> str:
    """A report, or one section of it; nothing where it has none."""
    whole = f"{film.findings} {film.impression}".strip()
    return {"report": whole, "findings": film.findings, "impression": film.impression}[section]


def open_films(path: Path | str, how: Films, *, progress: bool = True) -> PatientSplits:
    """Open Open-I: the folder or zip with table.csv, or that of the XML reports.

    Args:
        path: the folder, or a zip of it.
        how: which text and labels there are to be.
        progress: show a bar while images are checked.
    """
    source, ledger = open_source(Path(path)), Ledger(strict=not how.skip_bad)
    pictures = open_joined(how.images) if how.images else source
    known: dict[str, Film] = {}
    entries: list[Entry | Flaw] = []
    for one in open_i.read(source, pictures):
        if isinstance(one, Film):
            known[one.entry.where] = one
        entries.append(one.entry if isinstance(one, Film) else one)
    pairs = with_pictures(pictures, gather(iter(entries), ledger), ledger, progress)
    if not pairs:
        raise PolymodalError(f"{source.path}: no film with a report is left.{ledger}")
    films = [known[item.where] for _, item in pairs]
    whole = FilmSplit(pictures, [item for _, item in pairs], films, how)
    return PatientSplits(divided(whole, films, how), tuple(ledger.flaws))


def divided(whole: Dataset, films: Sequence[Film], how: Films) -> dict[str, Dataset]:
    """The splits: of a list, of a seed, or those that the films name."""
    named = [film.entry.split for film in films]
    if how.splits or how.seed >= 0 or not any(named):
        seed = max(how.seed, 0)
        return by_patient(whole, seed=seed, listed=how.splits or None, shares=SHARES)
    first: dict[str, Film] = {}
    for film in films:
        if film.entry.split is None:
            raise PolymodalError(
                f"{film.entry.where}: no split, though other films have one. Write train, val or test."
            )
        earlier = first.setdefault(film.patient, film)
        if earlier.entry.split != film.entry.split:
            raise PolymodalError(
                f"{film.entry.where}: the patient {film.patient} is in {film.entry.split}, but in "
                f"{earlier.entry.split} at {earlier.entry.where}. Put each patient in one split, or give "
                ",seed=0 to divide anew."
            )
    rows = {split: [k for k, name in enumerate(named) if name == split] for split in SPLITS}
    return {split: whole.take(own) for split, own in rows.items() if own}
