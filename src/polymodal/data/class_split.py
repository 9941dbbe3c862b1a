"""A split of a zero-shot dataset."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float32, Int64

from polymodal.base import files
from polymodal.data.folder import FolderSplit


@dataclass(frozen=True)
class ClassedSplit(FolderSplit):
    """A split of a folder whose images have classes: what `Classed` asks for."""

    labels: Int64[np.ndarray, " n"] = field(repr=False, compare=False)
    classes: tuple[str, ...] = field(repr=False)
    attributes: Float32[np.ndarray, "c a"] = field(repr=False, compare=False)
    attribute_names: tuple[str, ...] = field(repr=False)
    parts: Float32[np.ndarray, "n p 3"] | None = field(repr=False, compare=False)
    part_names: tuple[str, ...] = field(repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's split, of its classes and of its parts."""
        arrays = [self.labels, self.attributes, *([] if self.parts is None else [self.parts])]
        return files.fingerprint(
            {
                "pictures": FolderSplit(self.source, self.items, self.size).fingerprint,
                "names": [self.classes, self.attribute_names, self.part_names],
                "arrays": [hashlib.sha256(array.tobytes()).hexdigest() for array in arrays],
            }
        )
