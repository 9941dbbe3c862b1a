"""Which columns of a dataset are modalities: those under names of their own, such as t1 or flair."""

from polymodal.data.columns import KNOWN, Read, Stored
from polymodal.data.records import Dataset

MR = ("t1", "t1c", "t2", "flair")
"""Names of MR sequences: T1, T1 after contrast, T2, and T2 with the fluid's signal suppressed."""

TUMOUR = ("background", "necrosis", "oedema", "enhancing")
"""The classes of a glioma's mask, by their number."""


def modalities(dataset: Dataset) -> tuple[str, ...]:
    """The names of the columns that are arrays and have no meaning of their own, in their order."""
    columns = dataset.columns.items()
    return tuple(n for n, c in columns if n not in KNOWN and isinstance(c, Stored | Read))
