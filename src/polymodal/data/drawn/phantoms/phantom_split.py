"""One split of the phantoms: a dataset of four sequences and a mask, drawn when they are asked for."""

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float32, Float64, UInt8, UInt16

from polymodal.base import files
from polymodal.data.columns import Column, Each, Masks, Read, Stored
from polymodal.data.drawn.kernel.keeping import Kept
from polymodal.data.drawn.phantoms.phantom_spec import Spec
from polymodal.data.modalities import MR, TUMOUR
from polymodal.data.records import Dataset

FIELD = 220.0
"""Mm that a slice shows from side to side."""

LOWEST, HIGHEST = -2.0, 52.0
"""Between these heights lie the slices, in mm above the middle of the brain."""

FLOOR = -16.0
"""Mm of the lowest plane of a volume."""


class Scans:
    """The sequences and masks of a split; drawn once and kept where they are few enough."""

    def __init__(self, world: Spec, split: str, count: int) -> None:
        self.world, self.root, self.count = world, world.root(split), count
        planes = world.size // 2 if world.name == "phantoms-3d" else 1
        self.shape = (planes, world.size, world.size)
        self.some = Kept(count, self.draw)

    @property
    def spacing(self) -> float:
        """Mm from pixel to pixel."""
        return FIELD / self.world.size

    def heights(self, row: int) -> tuple[int, Float64[np.ndarray, " d"]]:
        """The number of the first plane of an item, and the height of each in mm."""
        from polymodal.data.drawn.kernel.randomness import uniforms
        from polymodal.data.drawn.phantoms.phantom_streams import PLANES

        if self.shape[0] > 1:
            return 0, FLOOR + self.spacing * np.arange(self.shape[0])
        patient, which = divmod(row, self.world.slices)
        step = (HIGHEST - LOWEST) / self.world.slices
        shift = uniforms(self.root, patient, PLANES, which + 1)[which]
        return which, np.array([LOWEST + step * (which + 0.15 + 0.7 * shift)])

    def draw(
        self, rows: Sequence[int]
    ) -> tuple[UInt16[np.ndarray, "b 4 d h w"], UInt8[np.ndarray, "b d h w"]]:
        """Some items' sequences and masks, drawn in parallel."""
        from polymodal.data.drawn.kernel.compiling import spread
        from polymodal.data.drawn.phantoms.scanning import scan

        world = self.world
        scans = np.empty((len(rows), len(MR), *self.shape), np.uint16)
        masks = np.empty((len(rows), *self.shape), np.uint8)
        options = np.array([world.bias, world.noise, world.misregistration, world.stripped], float)

        def one(k: int) -> None:
            first, heights = self.heights(rows[k])
            patient = rows[k] // world.slices
            scan(self.root, patient, first, heights, self.spacing, options, scans[k], masks[k])

        spread(one, range(len(rows)), None)
        return scans, masks

    def sequence(self, which: int, rows: Sequence[int]) -> Float32[np.ndarray, "b 1 ..."]:
        """One sequence of some items: b 1 h w, or b 1 d h w of volumes."""
        from polymodal.data.drawn.phantoms.scanning import LEVELS

        found: np.ndarray = self.some(rows)[0][:, which] / np.float32(LEVELS)
        return found if self.shape[0] == 1 else found[:, None]

    def masks(self, rows: Sequence[int]) -> UInt8[np.ndarray, "b ..."]:
        """The class of each pixel or voxel of some items."""
        found: np.ndarray = self.some(rows)[1]
        return found[:, 0] if self.shape[0] == 1 else found

    def present(self, share: float) -> Bool[np.ndarray, "n 4"]:
        """Which sequences of each item are there, where a share of them is missing."""
        from polymodal.data.drawn.kernel.randomness import uniforms
        from polymodal.data.drawn.phantoms.phantom_streams import MISSING

        patients = np.arange(self.count) // self.world.slices
        drawn = {p: uniforms(self.root, p, MISSING, len(MR)) for p in set(patients.tolist())}
        numbers = np.array([drawn[patient] for patient in patients.tolist()])
        there: np.ndarray = numbers >= share
        there[np.arange(self.count), numbers.argmax(1)] = True
        return there

    def affine(self) -> Float64[np.ndarray, "4 4"]:
        """Where voxel i, j, k of a volume is, in mm to the right, front and top, as NIfTI has it: columns
        run to the patient's left, rows to the back."""
        half = 0.5 * (FIELD - self.spacing)
        found = np.diag([-self.spacing, -self.spacing, self.spacing, 1.0])
        found[:3, 3] = half, half, FLOOR
        return found


class Split(Dataset):
    """Slices or volumes of some patients, whose mask is known."""

    def __init__(self, world: Spec, name: str) -> None:
        self.world, self.name = world, name
        n = getattr(world, name)
        self.scans = scans = Scans(world, name, n)
        self.patients = np.arange(n) // world.slices
        columns: dict[str, Column] = {}
        there = scans.present(world.missing) if world.missing and name == "train" else None
        for k, sequence in enumerate(MR):
            present = None if there is None or there[:, k].all() else there[:, k]
            columns[sequence] = Read(n, partial(scans.sequence, k), present=present)
        columns["mask"] = Masks(n, scans.masks, classes=TUMOUR)
        columns["group"] = Each(n, self._patient)
        if scans.shape[0] > 1:
            columns["affine"] = Stored(np.repeat(scans.affine()[None], n, 0))
        extent = "×".join(map(str, scans.shape[scans.shape[0] == 1 :]))
        super().__init__(columns, ids=Each(n, self._id), rule=f"{extent}: drawn at this size")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""
        return files.fingerprint({"world": self.world.spec(), "split": self.name})

    def _patient(self, row: int) -> str:
        return f"{self.name}-{self.patients[row]:05d}"

    def _id(self, row: int) -> str:
        whole = f"{self.world.name}-{self.world.seed}-{self._patient(row)}"
        return whole if self.scans.shape[0] > 1 else f"{whole}-{row % self.world.slices}"
