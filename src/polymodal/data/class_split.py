"""A split of a zero-shot dataset."""

import hashlib
from collections.abc import Sequence
from functools import cached_property

from polymodal.base import files
from polymodal.data.columns import Labels, Parts
from polymodal.data.folder import FolderSplit, Item
from polymodal.data.formats.archive import Source


class ClassedSplit(FolderSplit):
    """A split of a folder whose images have classes that attributes describe, and perhaps parts."""

    def __init__(
        self,
        source: Source,
        items: Sequence[Item],
        size: int,
        *,
        label: Labels,
        parts: Parts | None = None,
    ) -> None:
        known = {} if parts is None else {"parts": parts}
        super().__init__(source, items, size, label=label, **known)

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
