"""Splits of scans by patient, from a seed or from a list, and what was left out of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.folder import SPLITS
from polymodal.data.formats.archive import open_source
from polymodal.data.formats.csv_rows import read_rows
from polymodal.data.formats.entry import Flaw
from polymodal.data.groups import by_group
from polymodal.data.records import Dataset

SHARES: Mapping[str, float] = {"train": 0.58, "val": 0.12, "test": 0.30}
"""How much of the items each split has: patients are few, so that more are for testing than usual."""


@dataclass(frozen=True)
class PatientSplits(Mapping[str, Dataset]):
    """The splits of some scans by name, and what was left out of them."""

    splits: dict[str, Dataset]
    skipped: tuple[Flaw, ...] = ()

    def __getitem__(self, split: str) -> Dataset:
        return self.splits[split]

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)


def by_patient(
    dataset: Dataset,
    *,
    seed: int = 0,
    listed: str | None = None,
    shares: Mapping[str, float] = SHARES,
) -> dict[str, Dataset]:
    """Splits of a dataset with the column 'group', no patient in two of them.

    Args:
        dataset: of which the groups are patients.
        seed: another seed, another division.
        listed: a CSV with the columns patient,split, in place of a seed; patients that are not in it
            are left out.
        shares: how much of the items each split has, where a seed divides them.
    """
    if listed is None:
        return by_group(dataset, shares, seed=seed)
    wanted = read_list(Path(listed))
    patients = list(dataset.column("group", "A division by patients"))
    for patient in wanted:
        if patient not in patients:
            raise PolymodalError(
                f"{listed}: there is no patient {patient!r} in the data, which have: "
                f"{', '.join(sorted(set(patients))[:5])}, … Mend the name, or remove the line."
            )
    rows = {
        split: [row for row, patient in enumerate(patients) if wanted.get(patient) == split]
        for split in SPLITS
    }
    return {split: dataset.take(own) for split, own in rows.items() if own}


def read_list(path: Path) -> dict[str, str]:
    """Each patient's split, of a CSV."""
    if not path.is_file():
        raise PolymodalError(f"{path}: there is no such file. Give a CSV with patient,split.")
    found: dict[str, str] = {}
    for where, row in read_rows(open_source(path.parent), path.name, "patient", "split"):
        patient, split = row.get("patient", ""), row.get("split", "")
        if not patient:
            raise PolymodalError(f"{where}: there is no patient. Write patient,split in each line.")
        if split not in SPLITS:
            raise PolymodalError(f"{where}: {unknown('split', split, SPLITS)}")
        if found.setdefault(patient, split) != split:
            raise PolymodalError(
                f"{where}: the patient {patient!r} is in {found[patient]} already and would be in "
                f"{split} too, so that what is tested was learned from. Keep one of the lines."
            )
    if not found:
        raise PolymodalError(f"{path}: no patient is in it. Write a line patient,split for each.")
    return found
