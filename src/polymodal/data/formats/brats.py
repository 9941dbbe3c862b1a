"""Which files are a patient's in a folder of BraTS, in the names of its years."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source
from polymodal.data.formats.entry import Flaw
from polymodal.data.modalities import MR

SEG = "seg"

NIFTI = re.compile(
    r"(?P<id>.+?)(?P<sign>[_-])(?P<kind>t1ce|t1c|t1n|t1|t2w|t2f|t2|flair|seg)\.nii(\.gz)?",
    re.IGNORECASE,
)
"""BraTS20_Training_001_t1ce.nii.gz, BraTS-GLI-00000-000-t1c.nii.gz."""

MHA = re.compile(r".*\.(MR_)?(?P<kind>T1c|T1|T2|Flair|OT)([._].*)?\.mha", re.IGNORECASE)
"""VSD.Brain.XX.O.MR_T1c.54514.mha in a folder of its own in that of the patient."""

CALLED = {"t1ce": "t1c", "t1n": "t1", "t2w": "t2", "t2f": "flair", "ot": SEG}

LABELS: Mapping[str, Mapping[int, int]] = {
    "_": {0: 0, 1: 1, 2: 2, 4: 3},
    "-": {0: 0, 1: 1, 2: 2, 3: 3},
    "mha": {0: 0, 1: 1, 2: 2, 3: 1, 4: 3},
}
"""The class of each number: in `_seg` files, in `-seg` files of 2023, in those of 2015. The part of the
core that does not enhance counts as necrosis, as BraTS itself does since 2017."""

TIMES = (
    re.compile(r"(BraTS-[A-Za-z]+-\d+)-\d+"),
    re.compile(r"(Brats1\d_.+)_\d+", re.IGNORECASE),
    re.compile(r"(brats_.+_pat\d+)_\d+", re.IGNORECASE),
)
"""Names that end with the number of the visit."""


@dataclass
class Scan:
    """The files of one visit of a patient."""

    id: str
    style: str
    """Which of `LABELS` its mask has."""
    files: dict[str, str] = field(default_factory=dict)
    """The file of each modality, and of the mask under `seg`."""

    @property
    def patient(self) -> str:
        """Whose scan it is; several visits are of one patient.

        >>> Scan("BraTS-GLI-00008-101", "-").patient, Scan("BraTS20_Training_001", "_").patient
        ('BraTS-GLI-00008', 'BraTS20_Training_001')
        """
        found = (pattern.fullmatch(self.id) for pattern in TIMES)
        return next((match[1] for match in found if match), self.id)


def read(source: Source, partial: bool) -> Iterator[Scan | Flaw]:
    """Every scan of a folder, sorted.

    Args:
        source: the folder, with one for each scan in it, or in folders such as HGG and LGG.
        partial: whether a scan may lack modalities.
    """
    scans: dict[str, Scan] = {}
    for name in [n for depth in range(5) for n in source.glob("*/" * depth + "*.*")]:
        found = _known(name)
        if found is None:
            continue
        id, style, kind = found
        scan = scans.setdefault(id, Scan(id, style))
        earlier = scan.files.setdefault(kind, name)
        if earlier != name:
            reason = f"its {kind} is also {earlier}. Keep one of the two files."
            yield Flaw("duplicate file", f"{source.path / name}: patient {scan.patient}", reason)
    if not scans:
        raise PolymodalError(
            f"{source.path}: there are no scans. Expected a folder for each, with ID_t1.nii.gz, "
            "ID_t1ce.nii.gz, ID_t2.nii.gz, ID_flair.nii.gz and ID_seg.nii.gz (or ID-t1n, -t1c, -t2w, "
            "-t2f, -seg, or the .mha files of 2015)."
        )
    for _, scan in sorted(scans.items()):
        needed = [SEG] if partial and len(scan.files) > 1 else [*MR, SEG]
        lost = [kind for kind in needed if kind not in scan.files]
        if lost or (partial and not set(MR) & scan.files.keys()):
            told = " and no ".join(lost or MR)
            where = f"{source.path}: patient {scan.patient}, scan {scan.id}"
            reason = f"there is no file of {told}, only of {', '.join(sorted(scan.files))}."
            yield Flaw("missing file", where, f"{reason} Add it, or remove the scan.")
        else:
            yield scan


def _known(name: str) -> tuple[str, str, str] | None:
    """The scan, the style of its names and the modality that a file is of, None if of none."""
    *folders, file = name.split("/")
    match = NIFTI.fullmatch(file)
    if match:
        kind = match["kind"].lower()
        return match["id"], match["sign"], CALLED.get(kind, kind)
    match = MHA.fullmatch(file)
    if match and len(folders) > 1:
        kind = match["kind"].lower()
        return folders[-2], "mha", CALLED.get(kind, kind)
    return None
