"""A split of pictures whose regions are known, and perhaps phrases that name them."""

from collections.abc import Sequence
from functools import cached_property

from polymodal.base import files
from polymodal.data.columns import Each
from polymodal.data.folder import FolderSplit, Item
from polymodal.data.formats.archive import Source
from polymodal.data.image_files import WHOLE, Framing
from polymodal.data.records import Region


class RegionSplit(FolderSplit):
    """A split of whole pictures in squares, with the boxes of their regions in these."""

    def __init__(
        self,
        source: Source,
        items: Sequence[Item],
        size: int,
        regions: Sequence[tuple[Region, ...]],
        framing: Framing = WHOLE,
    ) -> None:
        self.framing, self._regions = framing, regions
        layout = Each(len(items), self._layout)
        super().__init__(source, items, size, regions=Each.of(regions), layout=layout)

    def _layout(self, index: int) -> tuple[Region, ...]:
        return tuple(Region(region.label, region.box) for region in self._regions[index])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, captions with their phrases, regions, size and the rule of resizing."""
        items = [
            [
                item.id,
                [[c.text, [list(vars(p).values()) for p in c.phrases]] for c in item.captions],
                [[r.label, r.box, dict(r.attributes)] for r in regions],
            ]
            for item, regions in zip(self.items, self._regions, strict=True)
        ]
        return files.fingerprint({"items": items, "size": self.size, "rule": self.framing.rule})
